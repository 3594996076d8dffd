package mysqlwire

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// command serves a command ("Command Phase"). Unknown commands get error 1047.
func (c *conn) command(ctx context.Context, payload []byte, out *wire.Out) error {
	if len(payload) == 0 {
		return c.answerError(out, errMalformed)
	}
	body := payload[1:]
	var err error
	switch payload[0] {
	case comQuery:
		err = c.query(ctx, body, out)
	case comStmtExecute:
		err = c.execute(ctx, body, out)
	case comStmtPrepare:
		err = c.prepare(ctx, body, out)
	case comStmtFetch:
		err = c.fetch(ctx, body, out)
	case comStmtBulkExecute:
		err = c.bulkExecute(ctx, body, out)
	case comStmtReset:
		err = c.resetStatement(body, out)
	case comStmtClose: // it has no answer
		if s, _, err := c.find(body); err == nil {
			c.drop(s)
		}
		return nil
	case comStmtLongData:
		c.longData(body)
		return nil
	case comPing, comRefresh: // there is nothing to flush
		out.B = c.ok(out.B, 0, 0)
	case comInitDB:
		err = c.initDB(body, out)
	case comFieldList:
		err = c.fieldList(body, out)
	case comStatistics:
		c.statistics(out)
	case comSetOption:
		err = c.setOption(body, out)
	case comProcessKill:
		err = c.processKill(body, out)
	case comResetConnection:
		c.resetConnection(out)
	case comChangeUser:
		id, err := c.changeUser(body)
		if err != nil {
			return c.fatal(out, err)
		}
		return c.identify(ctx, id, true, out)
	case comQuit:
		return io.EOF
	default:
		err = sqlstate.New(sqlstate.ProtocolViolation, "Unknown command").WithMySQL(1047, "08S01")
	}
	if err != nil {
		err = c.answerError(out, err)
	} else {
		err = out.FlushFull()
	}
	c.SQL.EndBatch()
	c.Text = "" // it may be long
	return err
}

// initDB serves COM_INIT_DB.
func (c *conn) initDB(name []byte, out *wire.Out) error {
	if err := checkText(name); err != nil {
		return err
	}
	if err := c.SQL.UseDatabase(string(name)); err != nil {
		return err
	}
	out.B = c.ok(out.B, 0, 0)
	return nil
}

// fieldList serves COM_FIELD_LIST: the columns of a table with names that match a
// pattern. The mysql client sends it for tab completion.
func (c *conn) fieldList(body []byte, out *wire.Out) error {
	r := read(body)
	table, pattern := r.CString(), cmp.Or(string(r.rest()), "%")
	if r.Bad {
		return errMalformed
	}
	if err := checkText(table); err != nil {
		return err
	}
	batch, err := c.SQL.Simple([]byte("SELECT * FROM `" + strings.ReplaceAll(string(table), "`", "``") + "` WHERE 1=0"))
	if err != nil {
		return err
	}
	st, err := batch.Next()
	if err != nil {
		return err
	}
	pattern = likeToGlob.Replace(strings.ToLower(pattern))
	for _, column := range st.Columns {
		if ok, _ := path.Match(pattern, strings.ToLower(column.Name)); !ok { // likeToGlob makes no bad patterns
			continue
		}
		var at int
		out.B, at = begin(out.B)
		out.B = c.appendDefinition(out.B, &column)
		out.B = append(out.B, 0xfb) // no default value
		out.B = c.end(out.B, at)
	}
	out.B = c.eof(out.B, 0)
	return nil
}

// likeToGlob translates a pattern of LIKE for path.Match.
var likeToGlob = strings.NewReplacer("%", "*", "_", "?", "*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// statistics serves COM_STATISTICS (mysqladmin status). The answer is a text without
// a header.
func (c *conn) statistics(out *wire.Out) {
	uptime := max(1, int64(time.Since(c.protocol.started)/time.Second))
	connections, n := c.Conn.Totals()
	var at int
	out.B, at = begin(out.B)
	out.B = fmt.Appendf(out.B, "Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Open tables: 0  Queries per second avg: %.3f",
		uptime, connections, n, float64(n)/float64(uptime))
	out.B = c.end(out.B, at)
}

// setOption serves COM_SET_OPTION: several statements in one query, or not.
func (c *conn) setOption(body []byte, out *wire.Out) error {
	r := read(body)
	switch option := r.uint16(); {
	case !r.OK() || option > 1:
		return sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to COM_SET_OPTION")
	case option == 0:
		c.caps |= clientMultiStatements
	default:
		c.caps &^= clientMultiStatements
	}
	out.B = c.eof(out.B, 0)
	return nil
}

// processKill serves COM_PROCESS_KILL.
func (c *conn) processKill(body []byte, out *wire.Out) error {
	r := read(body)
	id := r.uint32()
	if !r.OK() {
		return errMalformed
	}
	if err := c.Kill(int64(id), false); err != nil {
		return err
	}
	out.B = c.ok(out.B, 0, 0)
	return nil
}

// resetConnection serves COM_RESET_CONNECTION. It restores the state after the
// login, but keeps the default database.
func (c *conn) resetConnection(out *wire.Out) {
	c.closeStatements()
	c.SQL.Reset()
	c.SettingsChanged()
	out.B = c.ok(out.B, 0, 0)
}
