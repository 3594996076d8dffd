# HAProxy's checks of a server of each protocol, and a connection through it.
import os
import socket
import subprocess
import tempfile
import time

from verdict import CLIENT, HOST, PORT, USER, check, done, version

version(subprocess.run(["haproxy", "-v"], capture_output=True, text=True, check=True).stdout.split()[2].split("-")[0])
ask = {"pgsql-check": f"pgsql-check user {USER}"} if not CLIENT.endswith("-mysql") else {
    "mysql-check": "mysql-check", "mysql-check user": f"mysql-check user {USER}", "mysql-check post-41": f"mysql-check user {USER} post-41"}
with tempfile.TemporaryDirectory() as directory:
    stats, config = directory + "/stats", directory + "/haproxy.cfg"
    with open(config, "w") as f:
        f.write(f"global\n  stats socket {stats}\ndefaults\n  mode tcp\n  timeout connect 2s\n  timeout client 5s\n  timeout server 5s\n")
        for i, option in enumerate(ask.values()):
            f.write(f"listen l{i}\n  bind {directory}/in{i}\n  option {option}\n  server s {HOST}:{PORT} check inter 200ms fall 1\n")
    proxy = subprocess.Popen(["haproxy", "-f", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def state(i):
        for _ in range(50):
            time.sleep(0.1)
            if not os.path.exists(stats):
                continue
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(stats)
                s.sendall(b"show stat\n")
                text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
            rows = [line.split(",") for line in text.splitlines()]
            head = rows[0]
            row = dict(zip(head, next(r for r in rows if r[:2] == [f"l{i}", "s"])))
            checked = row["check_status"].removeprefix("* ")  # "* ": another check is under way
            if checked not in ("INI", ""):
                return row["status"] + " " + checked
        raise ValueError("no check in 5 s")

    def up(i):
        if state(i) != "UP L7OK":
            raise ValueError(state(i))
        return True

    try:
        for i, what in enumerate(ask):
            check(what, lambda i=i: up(i))
    finally:
        proxy.terminate()
        proxy.wait()
done()
