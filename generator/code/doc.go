// Package code gives generators of numbers two abilities that their kinds need
// not know of: a text form, and scatter.
//
// A text form writes an id in a base, with a prefix, padding, a check digit
// and separators, and reads it back; see Text. Scatter exchanges the ids of
// 0 … 2^bits-1 among themselves by a secret key, so that ids tell neither how
// many there are nor which came first, and stay unique; see permutation.
//
// WrapAll adds the options of both to kinds:
//
//	create_generator('orders', 'segment', '{"text":"base32","prefix":"ORD-","check":true,"scatter":{"bits":40}}')
package code
