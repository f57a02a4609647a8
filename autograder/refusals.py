"""Why the walls do not stand on a machine, and what its owner can do about it."""

import re
from pathlib import Path

from blocklab.text import Text, both

CHOICES = Text(
    "Students' code cannot be walled in here: {why}\n{what}\n"
    "Or choose --isolation none, where a student's code can read and change whatever you can.",
    "여기서는 학생 코드를 격리할 수 없습니다: {why}\n{what}\n"
    "아니면 --isolation none을 고르세요. 이때 학생 코드는 채점자가 읽고 바꿀 수 있는 모든 것에 "
    "손댈 수 있습니다.",
)
ELSEWHERE = Text(
    "Grade on Linux with bubblewrap installed, or in the container image of autograder/Dockerfile.",
    "bubblewrap이 설치된 Linux나 autograder/Dockerfile의 컨테이너 이미지에서 채점하세요.",
)
CONTAINER = Text(
    "The container keeps its processes from making namespaces. Start it with: docker run "
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined … (autograder/Dockerfile has the whole command). "
    "If it has these already, the machine itself forbids it: see below.",
    "컨테이너가 namespace를 만들지 못하게 막고 있습니다. 이렇게 시작하세요: docker run "
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined … (전체 명령은 autograder/Dockerfile에 있습니다). "
    "이미 그렇게 시작했다면 컴퓨터 자체가 막은 것입니다. 아래를 보세요.",
)
APPARMOR = Text(
    "AppArmor keeps ordinary users from making namespaces (Ubuntu 23.10 and later). As root, "
    "either allow it to bubblewrap alone:\n"
    "  printf 'abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n"
    "  userns,\\n}\\n' > /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap\n"
    "or to every program, until the next start:\n"
    "  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    "AppArmor가 일반 사용자의 namespace 생성을 막고 있습니다(Ubuntu 23.10부터). root로 "
    "bubblewrap에만 허용하거나:\n"
    "  printf 'abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n"
    "  userns,\\n}\\n' > /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap\n"
    "다음 부팅 때까지 모든 프로그램에 허용하세요:\n"
    "  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
)
FORBIDDEN = Text(
    "This Linux is set to let only root make namespaces. As root:\n"
    "  sysctl -w kernel.unprivileged_userns_clone=1   (Debian)\n"
    "  sysctl -w user.max_user_namespaces=15000       (Red Hat, and where it is 0)",
    "이 Linux는 root만 namespace를 만들 수 있게 설정되어 있습니다. root로 실행하세요:\n"
    "  sysctl -w kernel.unprivileged_userns_clone=1   (Debian)\n"
    "  sysctl -w user.max_user_namespaces=15000       (Red Hat 등 이 값이 0인 곳)",
)
# In the words of bubblewrap, and of confine.py.
_APPARMOR = re.compile(
    r"uid map: (?:Permission denied|Operation not permitted)|RTM_NEW\w+: Operation not permitted"
    r"|uid_map|(?:Can't mount|mount /).*Permission denied|Failed to make / slave: Permission denied"
)
_FORBIDDEN = re.compile(
    r"No permissions to creat|[Cc]reating new namespace failed|unshare: |"
    r"Can't mount proc|Failed to make / slave"
)


def no_walls(why: Text, what: Text = ELSEWHERE) -> Text:
    """The refusal to grade: why, and what to choose."""
    return CHOICES.fill(why=why, what=what)


NOT_LINUX = no_walls(Text("this is not Linux.", "Linux가 아닙니다."))
NO_BWRAP = no_walls(
    Text("bubblewrap (bwrap) is not installed.", "bubblewrap(bwrap)이 설치되어 있지 않습니다.")
)


def why(said: str, container: bool) -> Text:
    """The refusal for what bubblewrap or Linux said, with the way out where it is known.

    container: whether this is one, whose own options come first.
    """
    apparmor = _APPARMOR.search(said)
    known = apparmor or _FORBIDDEN.search(said)
    ways = [CONTAINER] if container and known else []
    ways += [APPARMOR if apparmor else FORBIDDEN] if known else [ELSEWHERE]
    last = said.strip().splitlines()[-1] if said.strip() else "?"
    what = Text("\n".join(w.en for w in ways), "\n".join(w.ko for w in ways))
    return no_walls(both(last), what)


def in_container() -> bool:
    return any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))
