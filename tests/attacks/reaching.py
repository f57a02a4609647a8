"""Attacks that read, write, hide or touch what is outside: nothing of it is to be had."""

from tests.attacks.arena import Attack

TRY = r"""
import ctypes, glob, os, resource, signal, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(action):
    try: print("TRIED", action())
    except BaseException as error: print("TRIED", type(error).__name__, str(error)[:300])
"""
SECRET = "{folder}/secret"


def reads(*expressions: str, says: str = "TRIED") -> Attack:
    """Each expression is tried, and what it gives is printed."""
    lines = [f"tried(lambda: {expression})" for expression in expressions]
    return Attack("\n".join([TRY, *lines]), says=says)


REACHING = {
    "reads the class secret": reads(f"open('{SECRET}').read()", says="No such file"),
    "reads relative to the submission": reads(
        "open('../class/secret').read()", "open('../../../gradebook.db').read()", "os.listdir('..')"
    ),
    "reads the work of another student": reads(
        "open('{folder}/submitted/bea/answers.ipynb').read()", says="No such file"
    ),
    "follows a symlink in the submission": reads(
        "open('{submission}/link').read()", "os.listdir('{submission}/up')", says="No such file"
    ),
    "links to the secret from inside": reads(
        f"os.symlink('{SECRET}', '/tmp/mine')", "open('/tmp/mine').read()", says="No such file"
    ),
    "hard links to the secret": reads(f"os.link('{SECRET}', '/tmp/mine')", says="No such file"),
    "reads with C, by a folder's number": reads(
        f"libc.openat(os.open('/', os.O_RDONLY), b'..{SECRET}', 0)",
        f"libc.open(b'/proc/self/root{SECRET}', 0)",
        says="TRIED -1",
    ),
    "reads with another program": reads(
        f"subprocess.run(['cat', '{SECRET}'], capture_output=True, text=True)", says="No such file"
    ),
    "searches for other classes": reads(
        "glob.glob('/tmp/*/*') + glob.glob('/tmp/**/gradebook.db', recursive=True)", says="TRIED []"
    ),
    "asks its environment": reads("dict(os.environ)", "'NBGRADER_EXECUTION' in os.environ"),
    "asks others' environments": reads(
        "[open(p, 'rb').read() for p in glob.glob('/proc/*/environ')]", says="TRIED []"
    ),
    "looks through its open files": reads(
        "[os.pread(n, 99, 0) for n in range(256) if libc.fcntl(n, 1) >= 0 and n not in range(9)]",
        "[os.readlink(p) for p in glob.glob('/proc/self/fd/*')]",
    ),
    "opens a door that its sockets' names tell": reads(
        "[socket.socket(fileno=os.dup(n)).getsockname() for n in range(3, 8)]",
        "os.listdir(os.path.dirname(socket.socket(fileno=os.dup(3)).getsockname()))",
        says="FileNotFoundError",
    ),
    "connects to sockets of its siblings": reads(
        "[socket.socket(socket.AF_UNIX).connect(f'{socket.socket(fileno=os.dup(3)).getsockname()"
        '.rsplit("/", 1)[0]}/{n}-1\') for n in range(99)]',
        says="FileNotFoundError",
    ),
    "calls home over TCP": reads("socket.create_connection(('127.0.0.1', {port}), 2)"),
    "calls home over DNS": reads("socket.getaddrinfo('canary.example.org', 80)"),
    "sends a packet to the network": reads(
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))"
    ),
    "writes into the class": reads(
        "open('{folder}/gradebook.db', 'w').write('100')", "os.makedirs('{folder}/x')"
    ),
    "replaces the gradebook": reads(
        "open('/tmp/g', 'w').write('100')", "os.replace('/tmp/g', '{folder}/gradebook.db')"
    ),
    "writes beside the submission": reads(
        "open('{submission}/x', 'w').write('x')", "open('x', 'w').write('x')"
    ),
    "makes the same folders of its own": reads(
        "os.makedirs('{folder}/submitted/bea')",
        "open('{folder}/submitted/bea/answers.ipynb', 'w').write('x')",
    ),
    "writes into the course": reads(
        "open(__import__('blocklab').__file__, 'a').write('evil = 1')",
        "open(torch.__file__, 'a').write('evil = 1')",
        "os.chmod(torch.__file__, 0o777)",
    ),
    "mounts the disk": reads(
        "libc.mount(b'/dev/vda1', b'/tmp', b'ext4', 0, None)",
        "libc.umount2(b'/tmp', 2)",
        "libc.unshare(0x10020000)",
        "libc.chroot(b'/tmp')",
        says="TRIED -1",
    ),
    "makes a device of the disk": reads(
        "os.mknod('/tmp/disk', 0o60666, os.makedev(254, 0))", "open('/tmp/disk', 'rb').read(9)"
    ),
    "becomes root": reads(
        "os.setuid(0)", "subprocess.run(['su', '-c', 'id'], capture_output=True, timeout=2)"
    ),
    "traces its parent": reads(
        "[libc.ptrace(16, p, 0, 0) for p in range(1, 50)].count(0)",
        "libc.process_vm_readv(1, None, 0, None, 0, 0)",
        "open('/proc/1/mem', 'rb')",
        says="TRIED 0",
    ),
    "kills everybody else": reads(
        "[os.kill(p, 9) for p in range(2, 400) if libc.kill(p, 0) == 0 and p != os.getpid()]",
        "os.kill(-1, 9)",
        "os.killpg(os.getppid() or 1, 9)",
    ),
    "takes its siblings' time and limits": reads(
        "[resource.prlimit(p, resource.RLIMIT_CPU, (1, 1)) for p in (os.getppid(), 2, 3, 4)]",
        "os.setpriority(os.PRIO_USER, os.getuid(), 19)",
        "os.nice(-10)",
    ),
    "raises its own limits": reads(
        "resource.setrlimit(resource.RLIMIT_NPROC, (10 ** 6, 10 ** 6))",
        "resource.setrlimit(resource.RLIMIT_CPU, (10 ** 6, 10 ** 6))",
        says="TRIED",
    ),
    "talks to the process that started it": reads(
        "[os.write(n, b'{\"kernel\": {}}') for n in range(8, 256) if libc.fcntl(n, 1) >= 0]",
        "__import__('autograder.warm')",
        says="ModuleNotFoundError",
    ),
    "leaves a daemon behind": Attack(
        TRY + "\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        import time; time.sleep(3)\n        open('{folder}/late', 'w').write('x')\n"
        "    os._exit(0)"
    ),
    "leaves a bomb in atexit": Attack(
        "import atexit, time\n"
        "def bomb():\n    open('{folder}/late', 'w').write('x'); time.sleep(60)\n"
        "atexit.register(bomb)"
    ),
    "reads the memory where the walls were built": Attack(
        TRY + "import gc\n"
        "words = [o for o in gc.get_objects() if isinstance(o, (str, dict, list)) "
        "and '{folder}' in str(o)[:2000] and '__name__' not in str(o)[:2000]]\n"
        "tried(lambda: [w for w in sys.orig_argv if 'class' in w and '{folder}' in w])",
        says="TRIED []",
    ),
}
