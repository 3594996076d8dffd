package dbtest

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Etcd starts an etcd cluster of n members. flags are further flags of etcd. With
// --cert-file it serves clients over HTTPS.
func Etcd(t testing.TB, n int, flags ...string) []*Server {
	t.Helper()
	server := Program(t, "etcd-server", "etcd")
	scheme := "http://"
	if slices.Contains(flags, "--cert-file") {
		scheme = "https://"
	}
	members, cluster := make([]*Server, n), make([]string, n)
	for i := range members {
		s := newServer(t, named("etcd", server), "", syscall.SIGTERM)
		name, peer := fmt.Sprint("m", i), "http://"+FreeAddr(t)
		members[i], cluster[i] = s, name+"="+peer
		s.urls = func(s *Server) { s.URL = "etcd://" + s.Addr }
		s.argv = func(s *Server) []string {
			return append([]string{
				server, "--name", name, "--data-dir", s.data(), "--listen-client-urls", scheme + s.Addr, "--advertise-client-urls", scheme + s.Addr,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(cluster, ","),
				"--initial-cluster-token", port(members[0].Addr), "--heartbeat-interval", "50", "--election-timeout", "500", "--log-level", "warn",
			}, flags...)
		}
		s.ready = func(s *Server) error { return healthy(scheme + s.Addr + "/health") }
	}
	beginAll(members)
	return members
}

// healthy returns an error unless a URL answers with status 200. That of etcd does
// after a linearizable read, which needs a leader.
func healthy(url string) error {
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is our own server
	answer, err := (&http.Client{Timeout: 5 * time.Second, Transport: transport}).Get(url)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	if answer != nil {
		answer.Body.Close()
	}
	return err
}
