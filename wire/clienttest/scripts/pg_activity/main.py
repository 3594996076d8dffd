# pg_activity draws its screen on a terminal; what it cannot read ends it with an error.
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from verdict import DB, HOST, PASSWORD, PORT, USER, check, done, version

version(subprocess.run(["pg_activity", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1])


def screens():
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", PGPASSWORD=PASSWORD)
        os.execvp("pg_activity", ["pg_activity", "-h", HOST, "-p", str(PORT), "-U", USER, "-d", DB])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
    shown, keys, start = b"", list("wbq"), time.time()
    while time.time() - start < 20:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # it has ended
                break
        if keys and b"Sessions" in shown and time.time() - start > 2 + 1.5 * (3 - len(keys)):
            os.write(terminal, keys.pop(0).encode())
    _, status = os.waitpid(pid, 0)
    text = re.sub(rb"\x1b[\[(][0-9;?]*[A-Za-z]", b"", shown).decode(errors="replace")
    if status or "rror" in text:
        raise ValueError(text[-300:])
    return text


check("screens of queries, waits and locks", lambda: "Sessions:" in screens())
done()
