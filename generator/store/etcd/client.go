package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/dsn"
)

// client sends requests to etcd's JSON gateway (api/etcdserverpb/rpc.proto as
// grpc-gateway maps it): []byte is base64, int64 is a text.
type client struct {
	http      *http.Client
	endpoints []string
	at        atomic.Uint32 // number of the endpoint in use, modulo their count; advanced after a failure
	what      string        // for messages, without a password

	user, password string
	mu             sync.Mutex
	token          string
}

type (
	header struct {
		ClusterID string `json:"cluster_id"`
		Revision  string `json:"revision"`
	}
	keyValue struct {
		Key            []byte `json:"key"`
		Value          []byte `json:"value"`
		CreateRevision string `json:"create_revision"`
		ModRevision    string `json:"mod_revision"`
	}
	rangeRequest struct {
		Key       []byte `json:"key"`
		RangeEnd  []byte `json:"range_end,omitempty"`
		CountOnly bool   `json:"count_only,omitempty"`
	}
	rangeResponse struct {
		Header header     `json:"header"`
		KVs    []keyValue `json:"kvs"`
		Count  int        `json:"count,string"`
		date   time.Time  // of the answer; zero if it has none
	}
	putRequest struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	}
	deleteRequest = rangeRequest
	compare       struct {
		Key            []byte `json:"key"`
		Target         string `json:"target"`
		Result         string `json:"result"`
		ModRevision    string `json:"mod_revision,omitempty"`
		CreateRevision string `json:"create_revision,omitempty"`
	}
	operation struct {
		Range *rangeRequest `json:"request_range,omitempty"`
		Put   *putRequest   `json:"request_put,omitempty"`
	}
	txnRequest struct {
		Compare []compare   `json:"compare"`
		Success []operation `json:"success"`
		Failure []operation `json:"failure,omitempty"`
	}
	txnResponse struct {
		Header    header `json:"header"`
		Succeeded bool   `json:"succeeded"`
		Responses []struct {
			Range rangeResponse `json:"response_range"`
		} `json:"responses"`
	}
)

const (
	dialTimeout = 2 * time.Second
	maxConns    = 16       // to one endpoint
	maxAnswer   = 64 << 20 // bytes; a catalogue of 100 000 names is smaller
)

// newClient returns a client for the endpoints of a URL. It does not connect.
func newClient(u *url.URL, hosts []string) (*client, error) {
	c := &client{what: dsn.Redacted(u, hosts), user: u.User.Username()}
	c.password, _ = u.User.Password()
	scheme := "http"
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxConnsPerHost:     maxConns,
		MaxIdleConnsPerHost: maxConns,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
	}
	if u.Scheme == "etcds" {
		scheme = "https"
		config, err := dsn.TLS(u.Query())
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = config
	}
	c.http = &http.Client{Transport: transport}
	for _, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "2379")
		}
		c.endpoints = append(c.endpoints, scheme+"://"+host+"/v3/")
	}
	return c, nil
}

// get reads the key, or all keys from key to end (exclusive) if end is given.
func (c *client) get(ctx context.Context, key, end string) (found rangeResponse, err error) {
	err = c.call(ctx, "kv/range", rangeRequest{Key: []byte(key), RangeEnd: []byte(end)}, &found)
	return found, err
}

// count returns how many keys there are from key to end.
func (c *client) count(ctx context.Context, key, end string) (int, error) {
	var found rangeResponse
	err := c.call(ctx, "kv/range", rangeRequest{Key: []byte(key), RangeEnd: []byte(end), CountOnly: true}, &found)
	return found.Count, err
}

// txn runs a transaction.
func (c *client) txn(ctx context.Context, t txnRequest) (did txnResponse, err error) {
	err = c.call(ctx, "kv/txn", t, &did)
	return did, err
}

// refusal is an error response of etcd.
type refusal struct {
	Text string `json:"error"`
	Code int    `json:"code"` // a code of gRPC
}

func (r *refusal) Error() string { return r.Text }

// Codes of gRPC.
const (
	invalidArgument    = 3
	failedPrecondition = 9
	unauthenticated    = 16
)

// wantsLogin reports whether a token is missing or has expired. etcd reports a
// missing token as an invalid argument.
func (r *refusal) wantsLogin() bool {
	return r.Code == unauthenticated || r.Code == invalidArgument && strings.Contains(r.Text, "user name is empty")
}

// noToken is the token for a cluster without authentication.
const noToken = "-"

// call sends one request. It tries another endpoint only if no connection was made.
// Any other request may have been carried out, and repeating it could do it twice. A
// request that was refused for its token is repeated once after a new login.
func (c *client) call(ctx context.Context, method string, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	renewed := false
	for range len(c.endpoints) + 1 {
		at := c.at.Load()
		if c.user != "" && !c.loggedIn() {
			if err = c.login(ctx); err != nil {
				c.at.CompareAndSwap(at, at+1)
				if unreached(ctx, err) {
					continue
				}
				return err
			}
		}
		err = c.send(ctx, c.endpoints[int(at)%len(c.endpoints)]+method, body, response)
		if err == nil {
			return nil
		}
		var said *refusal
		if errors.As(err, &said) && said.wantsLogin() && c.user != "" && !renewed {
			renewed = true
			c.forgetToken()
			continue
		}
		// The next call uses another member.
		c.at.CompareAndSwap(at, at+1)
		if !unreached(ctx, err) {
			return err
		}
	}
	return err
}

// unreached reports whether a request was not sent because no connection could be
// made.
func unreached(ctx context.Context, err error) bool {
	var op *net.OpError
	return ctx.Err() == nil && errors.As(err, &op) && op.Op == "dial"
}

func (c *client) loggedIn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token != ""
}

func (c *client) forgetToken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
}

// send sends one request to an endpoint and decodes the answer into response. An
// answer that is an error becomes a refusal.
func (c *client) send(ctx context.Context, to string, body []byte, response any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	// net/http repeats a POST only if nothing of it was written.
	c.mu.Lock()
	if c.token != "" && c.token != noToken {
		r.Header.Set("Authorization", c.token)
	}
	c.mu.Unlock()
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		said := new(refusal)
		if json.Unmarshal(text, said) != nil || said.Text == "" {
			said.Text = answer.Status
		}
		return said
	}
	if found, ok := response.(*rangeResponse); ok {
		found.date, _ = http.ParseTime(answer.Header.Get("Date")) // zero if it is missing
	}
	return json.Unmarshal(text, response)
}

// login gets a token for the user.
func (c *client) login(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"name": c.user, "password": c.password})
	if err != nil {
		return err
	}
	var said struct {
		Token string `json:"token"`
	}
	err = c.send(ctx, c.endpoints[int(c.at.Load())%len(c.endpoints)]+"auth/authenticate", body, &said)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.Code == failedPrecondition {
		said.Token, err = noToken, nil // the cluster has authentication turned off
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.token = said.Token
	c.mu.Unlock()
	return nil
}
