package sqlfuncs

import (
	"maps"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// maxSessionSettings limits the settings that a session may change.
const maxSessionSettings = 512

// Assign sets a setting for the session, or for the transaction if local. A session
// cannot take the rights of another user.
func (s *Session) Assign(def *setting.Definition, value string, local bool) error {
	key := strings.ToLower(def.Name)
	if key == "session_authorization" || key == "role" {
		begins, _ := s.vars.Begins(key)
		switch value {
		case "default":
			value = begins
		case "none", begins, s.options.User:
		default:
			return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied to set %s %q", strings.ReplaceAll(key, "_", " "), sqlstate.Cut(value, 64)).
				WithHint("Connect as that user instead.")
		}
	}
	if s.vars.Count() > maxSessionSettings {
		return sqlstate.New(sqlstate.LimitExceeded, "a session may change at most %d settings", maxSessionSettings)
	}
	if s.tx.state != txIdle {
		s.vars.KeepMode(key)
	}
	s.vars.Assign(key, value, local)
	s.SettingsChanged()
	return nil
}

// set plans SET and RESET. Unknown names are errors before the first item is set.
func set(st *Statement, t *syntax.Set) error {
	for _, item := range t.Items {
		if _, err := setting.Lookup(item.Name); err != nil {
			return engine.At(item.Pos, err)
		}
	}
	st.tag = t.Tag
	st.do = func(x *engine.Exec) error {
		for i := range t.Items {
			if err := assign(x, &t.Items[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// assign runs one item of SET.
func assign(x *engine.Exec, item *syntax.SetItem) error {
	s := sessionOf(x)
	def, err := setting.Lookup(item.Name)
	if err != nil {
		return err
	}
	local := item.Local || strings.HasPrefix(def.Name, "transaction_")
	value, _ := s.vars.Begins(strings.ToLower(def.Name))
	if !item.Default {
		value = settingText(def, item.Values)
	}
	if value, err = def.Normalize(value); err != nil {
		return err
	}
	if local && s.tx.state == txIdle {
		s.Warn(sqlstate.New(sqlstate.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks"))
	}
	return s.Assign(def, value, local)
}

// settingText joins the values of SET. search_path is a list of identifiers and is shown
// with their quotes.
func settingText(def *setting.Definition, values []syntax.Expr) string {
	parts := make([]string, len(values))
	for i, e := range values {
		if parts[i] = e.(*syntax.Literal).Text; def.Name == "search_path" {
			parts[i] = syntax.QuoteIdent(parts[i])
		}
	}
	return strings.Join(parts, ", ")
}

// show plans SHOW name and SHOW ALL. It hides settings that only administrators may
// read.
func show(st *Statement, t *syntax.Show) error {
	if strings.EqualFold(t.Name, "all") {
		st.yields("SHOW", &engine.QueryPlan{
			Columns: []engine.Column{engine.TextColumn("name"), engine.TextColumn("setting"), engine.TextColumn("description")},
			Open:    showAll,
		})
		return nil
	}
	def, err := setting.Lookup(t.Name)
	if err != nil {
		return err
	}
	key := strings.ToLower(def.Name)
	st.yields("SHOW", &engine.QueryPlan{Columns: []engine.Column{engine.TextColumn(def.Name)}, Open: func(x *engine.Exec) (engine.Rows, error) {
		s := sessionOf(x)
		if err := setting.MayExamine(key, s.options.Admin); err != nil {
			return nil, err
		}
		value, ok := s.vars.Get(key)
		if !ok {
			return nil, setting.Unknown(t.Name)
		}
		return engine.SingleRow(datum.MakeText(value)), nil
	}})
	return nil
}

func showAll(x *engine.Exec) (engine.Rows, error) {
	s := sessionOf(x)
	var rows [][]datum.Value
	for _, key := range slices.Sorted(maps.Keys(setting.PostgreSQL)) {
		if setting.MayExamine(key, s.options.Admin) == nil {
			value, _ := s.vars.Get(key)
			rows = append(rows, []datum.Value{datum.MakeText(setting.PostgreSQL[key].Name), datum.MakeText(value), datum.MakeText("")})
		}
	}
	return &engine.SliceRows{Rows: rows}, nil
}

// discard runs DISCARD in the portal own. PLANS and TEMP have nothing to discard.
func (s *Session) discard(what string, own *Portal) error {
	switch what {
	case "SEQUENCES":
		s.Fast.drawn.Reset(&s.memory)
	case "ALL":
		if s.tx.state != txIdle {
			return sqlstate.New(sqlstate.ActiveTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		s.forget(own)
	}
	return nil
}

// forget drops what a session has made, except the portal own.
func (s *Session) forget(own *Portal) {
	s.closePortals(func(p *Portal) bool { return p != own })
	s.vars.ResetAll()
	s.SettingsChanged()
	s.unprepareAll()
	s.Fast.drawn.Reset(&s.memory)
}
