# mysqld_exporter reads the server's status when Prometheus scrapes it.
import os
import socket
import subprocess
import time
import urllib.request

from verdict import HOST, PASSWORD, PORT, USER, check, done, version

program = "prometheus-mysqld-exporter"
told = subprocess.run([program, "--version"], capture_output=True, text=True)
version((told.stdout + told.stderr).split("version ")[1].split()[0])


def metrics():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % s.getsockname()[1]
    source = f"{USER}:{PASSWORD}@({HOST}:{PORT})/"
    exporter = subprocess.Popen([program, "--web.listen-address=" + address], env=dict(os.environ, DATA_SOURCE_NAME=source),
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        for _ in range(100):
            try:
                text = urllib.request.urlopen(f"http://{address}/metrics", timeout=10).read().decode()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise ValueError("the exporter does not listen")
    finally:
        exporter.terminate()
        log = exporter.communicate()[0].decode()
    if "level=error" in log:
        raise ValueError(log[log.index("level=error"):][:300])
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#")


found = metrics()
check("mysql_up", lambda: found["mysql_up"] == "1")
check("no error in the scrape", lambda: found["mysql_exporter_last_scrape_error"] == "0")
check("uptime", lambda: float(found["mysql_global_status_uptime"]) >= 0)
done()
