package sqlfuncs

import "nextid/sqlfuncs/engine"

// Column is one column of a result.
type Column = engine.Column

// Origin describes where a result column comes from.
type Origin = engine.Origin
