// Package cache keeps rows of the database in memcached, as JSON.
package cache

import (
	"encoding/json"
	"errors"
	"expvar"
	"log"
	"math/rand/v2"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"golang.org/x/time/rate"
)

const (
	timeout  = 100 * time.Millisecond
	idle     = 1000
	ttl      = 600
	ttlExtra = 120
)

var (
	failures = expvar.NewInt("postview_cache_failures")
	samples  = rate.Sometimes{First: 1, Interval: 10 * time.Second}
)

// Cache is shared by all requests.
type Cache struct {
	mc *memcache.Client
}

// New returns a cache on the memcached at addr.
func New(addr string) *Cache {
	mc := memcache.New(addr)
	mc.Timeout = timeout
	mc.MaxIdleConns = idle
	return &Cache{mc: mc}
}

// Get fills v and says whether the key was there.
func (c *Cache) Get(key string, v any) bool {
	item, err := c.mc.Get(key)
	if errors.Is(err, memcache.ErrCacheMiss) {
		return false
	}
	if err != nil {
		failed("get", key, err)
		return false
	}
	return json.Unmarshal(item.Value, v) == nil
}

// Put keeps v for ten to twelve minutes.
func (c *Cache) Put(key string, v any) {
	value, err := json.Marshal(v)
	if err != nil {
		return
	}
	expiry := ttl + rand.Int32N(ttlExtra)
	if err := c.mc.Set(&memcache.Item{Key: key, Value: value, Expiration: expiry}); err != nil {
		failed("set", key, err)
	}
}

// failed counts every failure and logs one of them every ten seconds.
func failed(op, key string, err error) {
	failures.Add(1)
	samples.Do(func() { log.Printf("cache: %s %s: %v (%d so far)", op, key, err, failures.Value()) })
}
