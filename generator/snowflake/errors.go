package snowflake

import (
	"time"

	"nextid/generator"
)

func (g *Generator) errSpent(id, until int64) error {
	return generator.Errorf(generator.ReasonClock, g.name, "Set the server's clock right, and keep it right; another nextid server may answer.",
		"the clock of this server was set back again: every rollback value of worker id %d is used until %s for generator %q",
		id, time.UnixMilli(until).UTC().Format(time.RFC3339), g.name)
}

func (g *Generator) errAhead(tick int64) error {
	return generator.Errorf(generator.ReasonClock, g.name, "Wait until then, or use a generator with another name.",
		"the ids of generator %q are ahead of the clock; it issues again at %s", g.name, g.TimeOf(tick).Format(time.RFC3339))
}
