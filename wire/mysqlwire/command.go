package mysqlwire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
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

// query serves COM_QUERY: one statement, or several with a result each.
func (c *conn) query(ctx context.Context, text []byte, out *wire.Out) error {
	if err := checkText(text); err != nil {
		return err
	}
	ran, err := c.RunText(ctx, text, func(st *sqlfuncs.Statement, more bool) error {
		if more && !c.caps.has(clientMultiStatements) {
			return errSeveral
		}
		if c.more = 0; more {
			c.more = statusMoreResults
		}
		return c.runStatement(ctx, st, out)
	})
	c.more = 0
	if err == nil && !ran {
		if len(bytes.Trim(text, "; \t\r\n")) == 0 {
			return errEmpty
		}
		out.B = c.ok(out.B, 0, 0) // only comments
	}
	return err
}

var (
	errEmpty   = sqlstate.New(sqlstate.SyntaxError, "Query was empty").WithMySQL(1065, "42000")
	errSeveral = sqlstate.New(sqlstate.SyntaxError, "You have an error in your SQL syntax: the query has more than one statement").
			WithHint("Send one statement, or let the client set CLIENT_MULTI_STATEMENTS (allowMultiQueries, multiStatements).")
)

// runStatement runs one statement of a query and sends its result in text format.
func (c *conn) runStatement(ctx context.Context, st *sqlfuncs.Statement, out *wire.Out) error {
	p := c.SQL.Run(st)
	defer p.Close()
	ctx = c.BeginStatement(ctx, st)
	defer c.Statement.End()
	return c.sendResult(ctx, p, false, false, out)
}

// sendResult runs a portal to its end and sends its result: a result set, or an OK
// packet. binary is the format of the answer to COM_STMT_EXECUTE. For known see
// head.
func (c *conn) sendResult(ctx context.Context, p *sqlfuncs.Portal, binary, known bool, out *wire.Out) error {
	if p.Columns() != nil {
		out.B = c.head(out.B, p.Statement(), p.Columns(), known)
	}
	if _, err := c.sendRows(ctx, p, binary, 0, out); err != nil {
		return err
	}
	out.B = c.endResult(out.B, p.Columns() != nil)
	return nil
}

// endResult appends the packet that ends a result set, or the OK packet of a statement
// without columns.
func (c *conn) endResult(dst []byte, set bool) []byte {
	if set {
		return c.eof(dst, 0)
	}
	return c.ok(dst, uint64(max(0, c.SQL.MySQL().Affected)), c.SQL.LastInsertID())
}

// sendRows sends the rows of a portal, at most limit if it is not 0. It runs a
// statement without columns. ended reports that there are no more rows.
func (c *conn) sendRows(ctx context.Context, p *sqlfuncs.Portal, binary bool, limit int64, out *wire.Out) (ended bool, err error) {
	if p.IDs() {
		_, err = out.SendIDs(ctx, p, limit, func(dst []byte, r generator.Range) []byte { return c.appendRun(dst, r, binary) })
	} else {
		row := appendTextRow
		if binary {
			row = appendBinaryRow
		}
		_, err = out.SendRows(ctx, p, limit, func(values []datum.Value) error {
			var at int
			out.B, at = begin(out.B)
			out.B = c.end(row(out.B, values, p.Columns(), c.SQL.Env()), at)
			return nil
		})
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}
