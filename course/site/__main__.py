from course.site.build import main

raise SystemExit(main())
