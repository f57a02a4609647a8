"""What a kernel's process does to itself before any student code: one wall inside the other.

Standard library and ctypes only: this runs inside the sandbox, right after a fork.
Namespaces first (nothing of a sibling has a name), then rlimits, no capabilities, Landlock
(nothing can be written outside /tmp, nothing mounted), and seccomp (what nobody needs).
"""

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Iterator, Mapping, Sequence

libc = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 1, 2, 4, 0x4000, 0x40000
MS_REMOUNT, MS_BIND = 0x20, 0x1000
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
HIDDEN = ("/proc", "/warm")
WRITABLE = ("/tmp", "/dev/shm")


def _call(result: int, what: str) -> int:
    """The result of a C function. Raises OSError, saying what failed, where it is negative."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def prctl(option: int, value: int) -> None:
    _call(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def leave_root(uid: int) -> None:
    """Become an ordinary user for good; the process stays its own to describe in /proc."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    prctl(PR_SET_DUMPABLE, 1)


def size() -> dict[str, int]:
    """What this process takes up now, in bytes: VmData and VmSize."""
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status if line.startswith("Vm"))
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmData", "VmSize")}


def enter_namespaces(disk: int) -> None:
    """Leave everything that siblings share; the next child is the first of its own processes.

    disk: bytes that /tmp and /dev/shm hold, each.
    """
    uid, gid = os.getuid(), os.getgid()
    _write("/proc/self/oom_score_adj", "1000")  # where memory ends, a student's kernel goes first
    _call(libc.unshare(NAMESPACES), "unshare")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    _mount("none", "/", None, MS_REC | MS_PRIVATE, None)
    # Where Python or the course lie in it; what begins with a dot, libraries have just made.
    shown = [name for name in os.listdir("/tmp") if not name.startswith(".")]
    if shown:
        _mount("/tmp", "/dev/shm", None, MS_BIND | MS_REC, None)
    _mount_writable("/tmp", disk)
    for name in shown:
        _show_again(name)
    _mount_writable("/dev/shm", disk)
    _mount("devpts", "/dev/pts", "devpts", MS_NOSUID, "newinstance,ptmxmode=0666,mode=0600")
    for folder in HIDDEN:
        _mount("tmpfs", folder, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0555")


def _mount_writable(folder: str, disk: int) -> None:
    _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, f"size={disk},nr_inodes=20000")


def _show_again(name: str) -> None:
    """What /tmp had, in the new /tmp, to be read; /dev/shm stands for the old one."""
    place = f"/tmp/{name}"
    os.mkdir(place, 0o755)
    _mount(f"/dev/shm/{name}", place, None, MS_BIND | MS_REC, None)
    locked = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV
    _mount("none", place, None, locked, None)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind, options)]
    result = libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    _call(result, f"mount {target}")


def set_limits(limits: Mapping[str, int], base: Mapping[str, int]) -> None:
    """Bound this process and its children. Memory counts from what `size` said before.

    RLIMIT_DATA ends in a MemoryError; RLIMIT_AS is there for shared memory, which it leaves out.
    """
    bounds = {
        resource.RLIMIT_DATA: base["VmData"] + limits["memory"],
        resource.RLIMIT_AS: base["VmSize"] + limits["memory"] + 2**30,
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_FSIZE: limits["file_size"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 2**16,
    }
    for what, bound in bounds.items():
        _, most = resource.getrlimit(what)
        bound = bound if most == resource.RLIM_INFINITY else min(bound, most)
        resource.setrlimit(what, (bound, bound))
    cpu = limits["cpu_seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))


def drop_privileges() -> None:
    """No capability in the new namespaces, and no way to gain one."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _call(libc.capset(header, nothing), "capset")


# Landlock: numbers of <linux/landlock.h>. What this Linux does not know cannot be asked for.
_READ = 0b1101  # execute, read a file, read a folder
_FILE = 0b1100000000000111  # what may be asked for a file: also write, truncate, device ioctls
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}


def landlock() -> bool:
    """Read the system, write to /tmp, /dev/shm and devices: nothing else, for ever.

    Returns whether this Linux has Landlock.
    """
    abi = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return False
    everything = (1 << _RIGHTS.get(abi, 16)) - 1
    asked = struct.pack("QQQ", everything, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _call(libc.syscall(444, asked, ctypes.c_size_t(len(asked)), 0), "landlock")
    for path in (f"/{name}" for name in os.listdir("/") if f"/{name}" not in HIDDEN):
        _allow(ruleset, path, _READ & everything)
    _allow(ruleset, "/dev", (_FILE | _READ) & everything)
    for path in WRITABLE:
        _allow(ruleset, path, everything)
    _call(libc.syscall(446, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
    return True


def _allow(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", rights if os.path.isdir(path) else rights & _FILE, folder)
    _call(libc.syscall(445, ruleset, 1, rule, 0), f"landlock {path}")
    os.close(folder)


# seccomp: what no notebook needs and what has hurt before, by name, on x86_64 and aarch64.
_DENIED = {
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440)},
    **{"unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41)},
    **{"mount": (165, 40), "umount2": (166, 39), "open_tree": (428, 428), "fsopen": (430, 430)},
    **{"move_mount": (429, 429), "fsmount": (432, 432), "mount_setattr": (442, 442)},
    **{"keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218)},
    **{"bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282)},
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426)},
    **{"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194)},
    **{"semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180), "syslog": (103, 116)},
    **{"name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265)},
    **{"fanotify_init": (300, 262), "personality": (135, 92)},
}
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_LOAD, _EQUAL, _SET, _ABOVE, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: these end in this network namespace

Instruction = tuple[int, int, int, int]


def seccomp() -> bool:
    """Refuse the system calls above, new namespaces, and sockets that no namespace holds back.

    Returns whether this machine's numbers are known.
    """
    if platform.machine() not in _MACHINES:
        return False
    program = list(_filter(*_MACHINES[platform.machine()]))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    described = struct.pack("HP", len(program), ctypes.addressof(code))
    _call(libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), described, 0, 0), "seccomp")
    return True


def _filter(machine: int, architecture: int) -> Iterator[Instruction]:
    yield from [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    yield from [(_LOAD, 0, 0, _NUMBER), (_ABOVE, 0, 1, 0x40000000), (_RETURN, 0, 0, _EPERM)]
    for numbers in _DENIED.values():
        yield from [(_EQUAL, 0, 1, numbers[machine]), (_RETURN, 0, 0, _EPERM)]
    yield from [(_EQUAL, 0, 1, _CLONE3[machine]), (_RETURN, 0, 0, _ENOSYS)]  # glibc then uses clone
    yield from _by_argument(_CLONE[machine], [(_SET, 0, 1, NAMESPACES)])
    known = [(_EQUAL, len(_FAMILIES) - i, 0, f) for i, f in enumerate(_FAMILIES)]
    yield from _by_argument(_SOCKET[machine], known)
    yield (_RETURN, 0, 0, _ALLOW)


def _by_argument(number: int, test: Sequence[Instruction]) -> list[Instruction]:
    """Refuse a call where the test of its first argument does not skip the refusal."""
    refused = [(_LOAD, 0, 0, _ARGUMENT), *test, (_RETURN, 0, 0, _EPERM), (_LOAD, 0, 0, _NUMBER)]
    return [(_EQUAL, 0, len(refused), number), *refused]
