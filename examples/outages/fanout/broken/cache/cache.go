// Package cache keeps rows of the database in memcached, as JSON.
package cache

import (
	"encoding/json"
	"errors"
	"log"
	"math/rand/v2"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	timeout  = 100 * time.Millisecond
	idle     = 1000
	ttl      = 600
	ttlExtra = 120
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
		log.Printf("cache: get %s: %v", key, err)
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
		log.Printf("cache: set %s: %v", key, err)
	}
}
