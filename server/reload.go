package server

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"nextid/generator"
	"nextid/sqlfuncs/ids"
)

// reload reads the configuration, the users, the rules and the certificate again. A
// source that cannot be read, or a setting that needs a restart, stays as it was.
// Sessions end whose users were removed or have another password.
func (s *Server) reload(ctx context.Context, e *engine) {
	s.reconfigure(e)
	s.access.reload(ctx, e.store)
	if n := e.sql.EndSessions(); n > 0 {
		s.log.Info("reload: sessions ended whose users were removed or have another password", "sessions", n)
	}
}

// reconfigure applies the settings that may change while the server runs.
func (s *Server) reconfigure(e *engine) {
	c := &s.config
	if c.reread == nil {
		return
	}
	next, err := c.reread()
	if err != nil {
		s.log.Error("reload: the configuration stays as it was", "error", OneLine(err.Error()), "hint", HintOf(err))
		return
	}
	inForce, restart := changedKeys(c, &next)
	if len(restart) > 0 {
		s.log.Warn("reload: these keys of the configuration need a restart; until then they stay as they were", "keys", strings.Join(restart, " "))
	}
	if len(inForce) == 0 {
		return
	}
	for i, setting := range next.settings() {
		if setting.is&live != 0 {
			_ = c.settings()[i].Set(setting.String()) // Set reads what String prints
		}
	}
	c.Quotas = next.Quotas
	c.Origin = maps.Clone(c.Origin)
	for _, key := range inForce {
		c.Origin[key] = next.Origin[key]
	}
	s.level.Set(c.LogLevel)
	e.apply(*c)
	s.log.Info("reload: the configuration was read", "in_force", strings.Join(inForce, " "))
}

// changedKeys returns the keys in which two configurations differ: those that a
// reload applies, and those that need a restart.
func changedKeys(was, is *Config) (inForce, restart []string) {
	before := was.settings()
	for i, s := range is.settings() {
		switch {
		case reflect.DeepEqual(s.Get(), before[i].Get()):
		case s.is&live != 0:
			inForce = append(inForce, s.key)
		default:
			restart = append(restart, s.key)
		}
	}
	if !slices.Equal(was.Quotas, is.Quotas) {
		inForce = append(inForce, quotasKey)
	}
	if !slices.EqualFunc(was.Generators, is.Generators, sameDefinition) || !slices.Equal(was.OpenAtStart, is.OpenAtStart) {
		restart = append(restart, generatorsKey)
	}
	return inForce, restart
}

func sameDefinition(a, b generator.Definition) bool {
	return a.Name == b.Name && a.Kind == b.Kind && string(a.Options) == string(b.Options)
}

// apply puts the settings of the engine into force that may change while the server
// runs.
func (e *engine) apply(c Config) {
	e.config.Store(&c)
	e.sql.SetQuotas(c.Quotas)
}

// settings returns the rows of nextid.settings. Generators are in
// nextid.generators.
func (e *engine) settings() []ids.Setting {
	c, all := e.config.Load(), []ids.Setting(nil)
	standard := DefaultConfig()
	defaults := standard.settings()
	for i, s := range c.settings() {
		all = append(all, ids.Setting{
			Name: s.key, Value: s.String(), Default: defaults[i].String(),
			Source: c.Origin[s.key].String(), Restart: s.is&live == 0, Help: s.help,
		})
	}
	return append(all, ids.Setting{
		Name: quotasKey, Value: quotasText(c.Quotas), Source: c.Origin[quotasKey].String(), Help: "how many ids users may draw and names may give",
	})
}
