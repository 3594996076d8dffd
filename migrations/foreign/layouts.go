package foreign

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"nextid/generator/layout"
	"nextid/migrations/appdb"
)

// Layout is the layout of a generator.
type Layout struct {
	*layout.Layout
	Generator string
}

// ParseLayout parses GENERATOR=LAYOUT.
func ParseLayout(text string) (Layout, error) {
	generator, name, ok := strings.Cut(text, "=")
	l, err := layout.Preset(name)
	if !ok || err != nil {
		return Layout{}, &Error{What: fmt.Sprintf("--layout %q is not GENERATOR=LAYOUT with a known layout", text), Hint: "Write --layout orders=twitter. nextid.layouts lists the layouts."}
	}
	return Layout{l, generator}, nil
}

// parts lists the parts of an id, in the order of layout_of's places.
var parts = []layout.FieldKind{layout.Time, layout.Datacenter, layout.Worker, layout.Rollback, layout.Sequence, layout.Own}

// partOf maps a kind of field to its part, where the names differ.
var partOf = map[layout.FieldKind]layout.FieldKind{layout.Reversed: layout.Time, layout.Shard: layout.Worker, layout.Counter: layout.Sequence}

// row returns a row of the table in function layout_of, for a name of a generator or
// of a layout.
func row(l *layout.Layout, generator bool, name string) string {
	total, reversed := 0, false
	places := map[layout.FieldKind][2]int{}
	for _, f := range slices.Backward(l.Fields) {
		places[cmp.Or(partOf[f.Kind], f.Kind)] = [2]int{total, int(f.Bits)}
		total += int(f.Bits)
		reversed = reversed || f.Kind == layout.Reversed
	}
	var numbers []string
	for _, part := range parts {
		numbers = append(numbers, fmt.Sprintf("%d,%d", places[part][0], places[part][1]))
	}
	return fmt.Sprintf("(%t, %s, %s, %d, %t, %t, %d, %d, '{%s}')", generator, literal(name), literal(l.Name), uint64(1)<<total-1,
		l.Signed, reversed, l.Epoch.UnixMicro(), l.Unit.Microseconds(), strings.Join(numbers, ","))
}

// layoutsSQL returns the SQL of the functions that need no server.
func layoutsSQL(c Config) string {
	var rows []string
	for _, l := range c.Layouts {
		rows = append(rows, row(l.Layout, true, l.Generator))
	}
	for _, l := range layout.Presets() {
		rows = append(rows, row(l, false, strings.ToLower(l.Name)))
	}
	return filled(connectDir, []string{"layouts"}, strings.NewReplacer(
		"{{default}}", literal(cmp.Or(c.defaultLayout, layout.Default)), "{{layouts}}", "            "+strings.Join(rows, ",\n            ")))
}

// dropLayouts drops the functions that layoutsSQL makes.
const dropLayouts = `DROP FUNCTION IF EXISTS nextid.layout_of(text), nextid.field(bigint, text, text), nextid.id_time(bigint, text),
	nextid.id_bound(text, timestamptz, boolean), nextid.id_floor(text, timestamptz), nextid.id_ceil(text, timestamptz),
	nextid.partition_ddl(regclass, text, text, timestamptz, timestamptz)`

// generators queries the server, from this machine, for the layouts of its
// generators and for its default layout. It leaves out generators whose numbers do
// not contain the time in plain form.
func (s Server) generators(ctx context.Context, c Config) (all []Layout, standard string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	db, err := s.open(c.Password)
	if err != nil {
		return nil, "", err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT layout FROM id_parts WHERE id = 0").Scan(&standard); err != nil {
		return nil, "", err
	}
	err = appdb.Each(ctx, db, func(rows *sql.Rows) error {
		var name string
		var options []byte
		var o struct {
			layout.Pinned
			Scatter json.RawMessage `json:"scatter"`
		}
		err := rows.Scan(&name, &options)
		if err == nil && json.Unmarshal(options, &o) == nil && o.Scatter == nil {
			if l, unknown := o.Build(); unknown == nil {
				all = append(all, Layout{l, name})
			}
		}
		return err
	}, "SELECT name, options FROM nextid.generators")
	return all, standard, err
}

// open returns a pool of connections from this machine to the server.
func (s Server) open(password string) (*sql.DB, error) {
	if s.Protocol == protocolMySQL {
		config := mysqldriver.NewConfig()
		config.User, config.Passwd, config.Net, config.DBName = s.User, password, "tcp", s.Options["dbname"]
		config.Addr = net.JoinHostPort(s.Options["host"], s.Options["port"])
		config.Timeout, config.Logger = 3*time.Second, &mysqldriver.NopLogger{}
		connector, err := mysqldriver.NewConnector(config)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(connector), nil
	}
	var words []string
	word := func(name, value string) {
		words = append(words, name+"='"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)+"'")
	}
	word("user", s.User)
	word("password", password)
	// pgx does not accept all options of postgres_fdw.
	for _, name := range []string{"host", "port", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"} {
		if value, ok := s.Options[name]; ok {
			word(name, value)
		}
	}
	return appdb.OpenPostgres(strings.Join(words, " "))
}
