package server

import (
	"fmt"
	"strings"
)

// configPage is docs/config.md.
func configPage() string {
	var b strings.Builder
	b.WriteString(configPageHead)
	b.WriteString("| key in the file | flag of `serve` | environment | default | meaning |\n|---|---|---|---|---|\n")
	defaults := DefaultConfig()
	for i := range settings {
		s := &settings[i]
		flag := ""
		if s.flag {
			flag = "`--" + s.flagName() + "`"
		}
		shown := s.value(&defaults).String()
		if shown != "" {
			shown = "`" + shown + "`"
		}
		live := ""
		if s.live {
			live = " ↻"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | `%s` | %s | %s |\n", s.key, live, flag, s.envName(), shown, s.help)
	}
	b.WriteString(configPageTail)
	return b.String()
}

const configPageHead = `# Configuration

<!-- Generated from the settings table of server: "make docs" writes this page again. -->

nextid needs no configuration. What you set comes from four places, each winning over the one before:

1. the defaults,
2. a YAML file, named with ` + "`--config FILE` or `NEXTID_CONFIG`" + `,
3. variables in the environment, ` + "`NEXTID_…`" + `,
4. flags of ` + "`nextid serve`" + `.

A key, a variable or a flag that nextid does not know is an error, and so is a value that makes no sense. nextid
reports all mistakes at once, each with its file and line, and does not start. ` + "`nextid check-config --config FILE`" + `
does the same check, with the files that it names, without starting anything. (Variables that Kubernetes sets for a Service called nextid, such as
` + "`NEXTID_PORT_5433_TCP_ADDR`" + `, are left alone.)

Keys may be written with ` + "`_` or `-`" + `. A dot in this table is a section of the file: ` + "`limits.portals`" + ` is written

` + "```yaml" + `
limits:
  portals: 128
` + "```" + `

On SIGHUP (` + "`systemctl reload`" + `) a server reads all of it again, with users, host rules and certificates. Keys marked with ↻ change
at once; the log names others that differ and need a restart. A configuration with a mistake changes nothing.

Sizes are digits, or digits with KiB, MiB or GiB. Durations look like 500ms, 30s, 1m30s.

## Settings

`

const configPageTail = `
## Quotas

How many ids users may draw and names may give (↻):

` + "```yaml" + `
quotas:
  - {user: app, ids: 1000, per: 1s, burst: 5000}
  - {user: "batch_*", ids: 10000000, per: 24h}
  - {generator: "invoice_*", ids: 100}
  - {user: partner, generator: orders, ids: 50000, per: 1h}
` + "```" + `

| key | meaning |
|---|---|
| ` + "`user`, `generator`" + ` | whom it is for: a name, or a pattern with ` + "`*`" + ` at its end, in quotes where it begins with one. One of them is needed |
| ` + "`ids`" + ` | how many ids |
| ` + "`per`" + ` | in which time; 1s by default |
| ` + "`burst`" + ` | how many at once, after a pause; as many as ` + "`ids`" + ` by default |

Each user that the pattern matches has the quota for itself, or each name, or each pair where both are given. A draw takes from
all that match it. It is a token bucket: full at the start, filled again at an even pace. ` + "`next_ids('orders', 500)`" + ` counts as 500
before the first is given; what is refused costs no id, and answers 53400 with the time after which it works (MySQL: 1226; HTTP:
429 with ` + "`Retry-After`" + `). Each server counts for itself, from its start. ` + "`nextid.quotas`" + ` shows them, and
` + "`nextid_quota_refused_total`" + ` counts. A user of a quota is known by the name of the login: without users everybody chooses theirs.
Functions that need no generator, such as ` + "`gen_random_uuid()`" + `, are not counted. Where there are
quotas, a draw takes a lock for each that matches it.

## Addresses

` + "`pg`" + ` takes HOST:PORT, or a path (with a slash in it) for a Unix socket, or ` + "`off`" + `. A path to a directory means the
file ` + "`.s.PGSQL.5433`" + ` in it, which is where ` + "`psql -h DIRECTORY -p 5433`" + ` looks. Everybody who may enter the directory
can connect: set its permissions. Port 0 takes a free port; the ready line says which.

An address that other machines can reach is refused unless there are users and a TLS certificate, or
` + "`allow_plaintext`" + ` says that you trust everybody on that network. [security.md](security.md) shows how to set them up.

## Stores

| store | meaning |
|---|---|
| (none) | SQLite in the file ` + "`nextid.db`" + ` of the data directory |
| ` + "`sqlite:FILE`" + ` | SQLite in another file |
| ` + "`memory:`" + ` | nothing is kept. After a restart ids repeat: for tests only |

A store on disk is used by one server at a time; a second one refuses to start.

## Generators

A generator is created when it is first asked for (see ` + "`auto_create`" + `), with SQL, or here:

` + "```yaml" + `
generators:
  orders:
    kind: snowflake
    layout: twitter
    epoch: "2024-01-01T00:00:00Z"
  invoices:
    kind: segment
    start: 1
    step: 1000
    open: start
` + "```" + `

` + "`open: start`" + ` opens the generator, with its first reservation, before the server listens: its first draw is as fast as the next.
Without it (` + "`open: use`" + `) the first draw opens it.

Each name has its ` + "`kind`" + ` and the options of that kind, as in ` + "`create_generator`" + `. The names are created in the store
when the server starts. If the store already has a name with other options, the server refuses that name and says so:
what an id means must not depend on which server issued it. The other names work.
`
