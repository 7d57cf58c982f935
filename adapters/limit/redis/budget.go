package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/mnemehq/mneme/core/port"
)

// charge is port.Bucket.Draw by the server's clock. Keys: the bucket. Arguments:
// capacity, tokens a second, units, spent, back, ahead.
const charge = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local capacity, rate, units = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local spent, back, ahead = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(kept[1]) or capacity, tonumber(kept[2]) or now
if now > at then tokens = tokens + (now - at) * rate / 1000000 end
tokens = math.min(tokens + back, capacity)
local ok, drawn = 0, 0
if tokens >= math.min(units + spent, capacity) - spent - 0.000001 then
  ok = 1
  tokens = tokens - units
  drawn = math.max(0, math.min(ahead, math.floor(tokens + 0.000001)))
  tokens = tokens - drawn
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - tokens) / rate * 1000) + 1000)
return {ok, drawn, string.format('%.6f', tokens)}`

// prefix keeps the keys apart from those of other programs.
const prefix = "mneme:limit:"

// Budget is port.Budget over a Redis server.
type Budget struct {
	pool   *redis.Pool
	script *redis.Script
}

// patience is how long a server may take for an answer. A limit is not worth a wait: while
// the server hangs, the process's own buckets are used.
const patience = 500 * time.Millisecond

// The server's connections. A limit is drawn from in a millisecond, so few do.
const (
	maxConnections = 64
	idleFor        = 5 * time.Minute
)

// Open connects to the server and checks that it answers.
func Open(ctx context.Context, c Config) (*Budget, error) {
	at, err := c.address()
	if err != nil {
		return nil, err
	}
	options := []redis.DialOption{redis.DialConnectTimeout(time.Second), redis.DialReadTimeout(patience),
		redis.DialWriteTimeout(patience), redis.DialDatabase(at.database),
		redis.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12})}
	b := &Budget{script: redis.NewScript(1, charge), pool: &redis.Pool{MaxIdle: maxConnections, MaxActive: maxConnections,
		Wait: true, IdleTimeout: idleFor, DialContext: func(ctx context.Context) (redis.Conn, error) {
			if at.url != "" {
				return redis.DialURLContext(ctx, at.url, options...)
			}
			return redis.DialContext(ctx, "unix", at.socket, append(options, redis.DialUsername(at.username),
				redis.DialPassword(at.password))...)
		}}}
	err = b.with(ctx, func(conn redis.Conn) error {
		_, err := redis.DoContext(conn, ctx, "PING")
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reach the Redis server: %w", err), b.Close())
	}
	return b, nil
}

// with calls do with a connection, and with the next where it turns out that the server has ended one
// that was kept, which it does to all of them when it restarts.
func (b *Budget) with(ctx context.Context, do func(redis.Conn) error) error {
	for try := 1; ; try++ {
		conn, err := b.pool.GetContext(ctx)
		if err != nil {
			return err
		}
		err = do(conn)
		ended := conn.Err() != nil
		_ = conn.Close() // goes back, or was closed
		var late net.Error
		if err == nil || !ended || errors.As(err, &late) && late.Timeout() || ctx.Err() != nil || try > maxConnections {
			return err
		}
	}
}

// Draw implements port.Budget.
func (b *Budget) Draw(ctx context.Context, name string, c port.Charge) (port.Drawn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	var out []any
	err := b.with(ctx, func(conn redis.Conn) (err error) {
		out, err = redis.Values(b.script.DoContext(ctx, conn, prefix+name,
			port.Capacity(c.Rate), float64(c.Rate.PerMinute)/60, c.Units, c.Spent, c.Back, c.Ahead))
		return err
	})
	if err != nil {
		return port.Drawn{}, fmt.Errorf("draw from a shared rate limit: %w", err)
	}
	if len(out) == 3 {
		ok, okOK := out[0].(int64)
		ahead, aheadOK := out[1].(int64)
		left, leftOK := out[2].([]byte)
		tokens, err := strconv.ParseFloat(string(left), 64)
		if okOK && aheadOK && leftOK && err == nil {
			return port.Drawn{OK: ok == 1, Ahead: int(ahead), Tokens: tokens}, nil
		}
	}
	return port.Drawn{}, fmt.Errorf("draw from a shared rate limit: the server answered %v", out)
}

// Close implements port.Budget.
func (b *Budget) Close() error { return b.pool.Close() }

var _ port.Budget = (*Budget)(nil)
