package foreign

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"nextid/migrations/appdb"
)

// Layout describes the bit fields of an id.
type Layout struct {
	For    string  // name under which layout_of finds it: of a generator or of a layout
	Name   string  // of the layout
	Fields []Field // from the highest bits to the lowest
	Epoch  time.Time
	Unit   time.Duration // one tick of the time field
	Signed bool          // the sign of an id is the highest bit of its time
}

// Field is one bit field of a Layout. partOf maps kinds to the names that
// PostgreSQL's function field uses.
type Field struct {
	Kind string
	Bits uint8
}

// parts lists the parts of an id, in the order of layout_of's places.
var parts = []string{"time", "datacenter", "worker", "rollback", "sequence", "field"}

// reversedTime is the kind of a time field with its bits in reverse order.
const reversedTime = "reversed"

// partOf maps a kind of field to its part, where the names differ.
var partOf = map[string]string{reversedTime: "time", "shard": "worker", "counter": "sequence"}

// row returns a row of the table in function layout_of.
func (l Layout) row(generator bool) string {
	total, reversed := 0, false
	places := map[string][2]int{}
	for i := len(l.Fields) - 1; i >= 0; i-- {
		f := l.Fields[i]
		places[cmp.Or(partOf[f.Kind], f.Kind)] = [2]int{total, int(f.Bits)}
		total += int(f.Bits)
		reversed = reversed || f.Kind == reversedTime
	}
	var numbers []string
	for _, part := range parts {
		numbers = append(numbers, fmt.Sprintf("%d,%d", places[part][0], places[part][1]))
	}
	return fmt.Sprintf("(%t, %s, %s, %d, %t, %t, %d, %d, '{%s}')", generator, literal(l.For), literal(l.Name), uint64(1)<<total-1,
		l.Signed, reversed, l.Epoch.UnixMicro(), l.Unit.Microseconds(), strings.Join(numbers, ","))
}

// layoutsSQL returns the SQL of the functions that need no server.
func layoutsSQL(c Config) string {
	var rows []string
	for _, l := range c.Generators {
		rows = append(rows, l.row(true))
	}
	for _, l := range c.Layouts {
		rows = append(rows, l.row(false))
	}
	if len(rows) == 0 { // VALUES needs at least one row
		rows = []string{Layout{}.row(false)}
	}
	return filled(postgresFiles, connectDir, []string{"layouts"}, strings.NewReplacer(
		"{{default}}", literal(c.DefaultLayout), "{{layouts}}", "            "+strings.Join(rows, ",\n            ")))
}

// dropLayouts drops the functions that layoutsSQL makes.
const dropLayouts = `DROP FUNCTION IF EXISTS nextid.layout_of(text), nextid.field(bigint, text, text), nextid.id_time(bigint, text),
	nextid.id_bound(text, timestamptz, boolean), nextid.id_floor(text, timestamptz), nextid.id_ceil(text, timestamptz),
	nextid.partition_ddl(regclass, text, text, timestamptz, timestamptz)`

// generators queries the server, from this machine, for the layouts of its
// generators and for its default layout.
func (s Server) generators(ctx context.Context, c Config) (all []Layout, layout string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	db, err := s.open(c.Password)
	if err != nil {
		return nil, "", err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT layout FROM id_parts WHERE id = 0").Scan(&layout); err != nil {
		return nil, "", err
	}
	err = appdb.Each(ctx, db, func(rows *sql.Rows) error {
		var name string
		var options []byte
		err := rows.Scan(&name, &options)
		if l, ok := c.ReadLayout(name, options); err == nil && ok {
			all = append(all, l)
		}
		return err
	}, "SELECT name, options FROM nextid.generators")
	return all, layout, err
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
