"""Sphinx's configuration. What differs between the languages is given by `course.site.build`."""

from pathlib import Path

HERE = Path(__file__).parent

extensions = ["myst_nb", "course.site.extension"]
nb_execution_mode = "off"  # the lectures hold their outputs
nb_render_markdown_format = "commonmark"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
pygments_dark_style = "github-dark"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_favicon = str(HERE / "static" / "icon.svg")
templates_path = [str(HERE / "templates")]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
html_use_index = False
