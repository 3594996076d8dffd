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
	"sync/atomic"
	"time"

	"nextid/dsn"
	"nextid/generator/store/shared"
)

// client sends requests to etcd's JSON gateway (api/etcdserverpb/rpc.proto as
// grpc-gateway maps it): []byte is base64, int64 is a text.
type client struct {
	http      *http.Client
	endpoints []string
	at        atomic.Uint32 // number of the endpoint in use, modulo their count; advanced after a failure
	what      string        // for messages, without a password

	user, password string
	token          atomic.Pointer[string] // nil before the login; "" if the cluster has no authentication
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
	compare struct {
		Key            []byte `json:"key"`
		Target         string `json:"target"`
		Result         string `json:"result"`
		ModRevision    string `json:"mod_revision,omitempty"`
		CreateRevision string `json:"create_revision,omitempty"`
		Value          []byte `json:"value,omitempty"`
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
	for _, host := range dsn.WithPort(hosts, "2379") {
		c.endpoints = append(c.endpoints, scheme+"://"+host+"/v3/")
	}
	return c, nil
}

// get reads one key, or all keys from Key to RangeEnd (exclusive).
func (c *client) get(ctx context.Context, r rangeRequest) (found rangeResponse, err error) {
	err = c.call(ctx, "kv/range", r, &found)
	return found, err
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

// call sends one request; its error is a *generator.Error. It tries another endpoint
// only if no connection was made. Any other request may have been carried out, and
// repeating it could do it twice. A request that was refused for its token is
// repeated once after a new login.
func (c *client) call(ctx context.Context, method string, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	renewed := false
	for range len(c.endpoints) + 1 {
		at := c.at.Load()
		if err = c.login(ctx, at); err == nil {
			err = c.send(ctx, at, method, body, response)
		}
		if err == nil {
			return nil
		}
		if said, ok := errors.AsType[*refusal](err); ok && said.wantsLogin() && c.user != "" && !renewed {
			renewed = true
			c.token.Store(nil)
			continue
		}
		c.at.CompareAndSwap(at, at+1) // the next call uses another member
		if op, ok := errors.AsType[*net.OpError](err); ctx.Err() != nil || !ok || op.Op != "dial" {
			break
		}
	}
	return shared.Unreachable(ctx, c.what, err)
}

// send sends one request to the endpoint with a number, and decodes the answer into
// response. An answer that is an error becomes a refusal. net/http repeats a POST
// only if nothing of it was written.
func (c *client) send(ctx context.Context, at uint32, method string, body []byte, response any) error {
	to := c.endpoints[int(at)%len(c.endpoints)] + method
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if token := c.token.Load(); token != nil && *token != "" {
		r.Header.Set("Authorization", *token)
	}
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

// login gets a token for the user, unless there is one or no user.
func (c *client) login(ctx context.Context, at uint32) error {
	if c.user == "" || c.token.Load() != nil {
		return nil
	}
	body, err := json.Marshal(map[string]string{"name": c.user, "password": c.password})
	if err != nil {
		return err
	}
	var said struct {
		Token string `json:"token"`
	}
	err = c.send(ctx, at, "auth/authenticate", body, &said)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.Code == failedPrecondition {
		err = nil // the cluster has authentication turned off
	}
	if err == nil {
		c.token.Store(&said.Token)
	}
	return err
}
