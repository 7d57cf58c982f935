package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

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
	client *redis.Client
	script *redis.Script
}

// patience is how long a server may take for an answer. A limit is not worth a wait: while
// the server hangs, the process's own buckets are used.
const patience = 500 * time.Millisecond

// Open connects to the server and checks that it answers.
func Open(ctx context.Context, c Config) (*Budget, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.MaxRetries = time.Second, patience, patience, 1
	o.DialerRetries = 1
	b := &Budget{client: redis.NewClient(o), script: redis.NewScript(charge)}
	if err := b.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the Redis server: %w", err), b.client.Close())
	}
	return b, nil
}

// Draw implements port.Budget.
func (b *Budget) Draw(ctx context.Context, name string, c port.Charge) (port.Drawn, error) {
	out, err := b.script.Run(ctx, b.client, []string{prefix + name},
		port.Capacity(c.Rate), float64(c.Rate.PerMinute)/60, c.Units, c.Spent, c.Back, c.Ahead).Slice()
	if err != nil {
		return port.Drawn{}, fmt.Errorf("draw from a shared rate limit: %w", err)
	}
	if len(out) == 3 {
		ok, okOK := out[0].(int64)
		ahead, aheadOK := out[1].(int64)
		left, leftOK := out[2].(string)
		tokens, err := strconv.ParseFloat(left, 64)
		if okOK && aheadOK && leftOK && err == nil {
			return port.Drawn{OK: ok == 1, Ahead: int(ahead), Tokens: tokens}, nil
		}
	}
	return port.Drawn{}, fmt.Errorf("draw from a shared rate limit: the server answered %v", out)
}

// Close implements port.Budget.
func (b *Budget) Close() error { return b.client.Close() }

var _ port.Budget = (*Budget)(nil)
