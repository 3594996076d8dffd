// Package code adds two features to kinds whose ids are numbers: a text form and
// scatter. The kinds do not know of them.
//
// A text form (type Text) writes an id in a base and reads it back. It may have a
// prefix, padding, a check digit and separators. Scatter permutes the ids 0 …
// 2^bits-1 by a secret key (type permutation). Scattered ids stay unique, and show
// neither their number nor their order.
//
// WrapAll adds the options of both to kinds:
//
//	create_generator('orders', 'segment', '{"text":"base32","prefix":"ORD-","check":true,"scatter":{"bits":40}}')
//
// Stored text forms, keys and permutations never change: an id or a code would get
// another meaning, and could appear twice.
package code
