package load

import (
	"bytes"
	"strconv"
	"strings"
)

// redisProtocol implements the part of RESP that INCR needs: answers of one line.
type redisProtocol struct{}

// query appends a command of words without spaces: INCR orders.
func (redisProtocol) query(dst []byte, command string) []byte {
	words := strings.Fields(command)
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(words)), 10), "\r\n"...)
	for _, w := range words {
		dst = append(strconv.AppendInt(append(dst, '$'), int64(len(w)), 10), "\r\n"...)
		dst = append(append(dst, w...), "\r\n"...)
	}
	return dst
}

func (redisProtocol) prepare(dst []byte, _ string) ([]byte, int) { return dst, 0 }
func (redisProtocol) execute(dst []byte) []byte                  { return dst }

// scan implements protocol. Each line is an answer; one that begins with - is an
// error.
func (redisProtocol) scan(in []byte, values *[]ID) (used, answers int, err error) {
	for {
		end := bytes.IndexByte(in[used:], '\n')
		if end < 1 {
			return used, answers, nil
		}
		line := in[used : used+end-1]
		used += end + 1
		answers++
		switch line[0] {
		case '-':
			return used, answers, serverError(line[1:])
		case ':':
			if values != nil {
				if id, ok := parseID(line[1:]); ok {
					*values = append(*values, id)
				}
			}
		}
	}
}
