package config

import "time"

// Settings has all our settings, typed and complete.
type Settings struct {
	Storage       Storage
	GC            GC
	Network       Network
	Hooks         Hooks
	Merge         Merge
	Trim          Trim
	Deduplication Deduplication
	Compaction    Compaction
	MaxCost       float64 // of a query's requests, in USD; 0 for no limit
	MaxRequests   int     // of a query
}

// A Format is how blobs are stored.
type Format string

// The formats.
const (
	Blobs  Format = "blobs"
	Inline Format = "inline"
)

// Storage is [storage].
type Storage struct {
	Format         Format
	MaxBlobBytes   int64
	MaxStreamBytes int64
}

// GC is [gc].
type GC struct {
	Auto  bool
	Grace time.Duration
}

// Network is [network].
type Network struct {
	PrivateHosts []string
	Connect      time.Duration
	FirstToken   time.Duration // 0 for the provider's default
}

// Hooks is [hooks].
type Hooks struct {
	Stage   bool   // pre-commit adds the blobs of staged conversations
	Check   string // "error", "warn" or "off"
	Strict  bool   // an incomplete last turn is an error
	Restore bool   // hooks restore lost blobs
}

// Merge is [merge].
type Merge struct {
	Blended string // "replace" or "refuse"
}

// Trim is [trim].
type Trim struct {
	Schedule string // "never", "cold", "balanced" or "eager"
	// Limits below which superseded content is kept.
	MinBytes   int64
	MinTurns   int
	MinDelta   float64
	CacheTurns int
}

// Deduplication is [conversation.deduplication].
type Deduplication struct {
	Enabled       bool
	MinBytes      int64
	LookbackTurns int
	Lines         bool
}

// Compaction is [conversation.compaction], without jp's rules.
type Compaction struct {
	Strategy           []string
	KeepLast           int
	Model              string
	SummarizeThreshold float64
	SummarizeTokens    int64 // 0 for the fraction only
	Window             int64 // limit of the account; 0 for the model's own
	Fork               bool
}

// Tool is [conversation.tools.<name>], without jp's keys.
type Tool struct {
	Deduplicate bool // true by default
	Compaction  ToolCompaction
}

// ToolCompaction is [conversation.tools.<name>.compaction]. Zero values mean unset, so that the
// built-in table decides.
type ToolCompaction struct {
	Response string // "keep", "strip", "remove" or ""
	Dedup    *bool
	// Subsumes may name an action of the tool, which is a process, hence the type.
	Subsumes Trusted[string]
	// Like names a tool with the same effect on files. Only the user can vouch for that, hence the
	// type.
	Like Trusted[string]
}

// Settings returns the effective settings.
func (c *Config) Settings() Settings {
	const dedup, compaction = "conversation.deduplication.", "conversation.compaction."
	return Settings{
		MaxCost:     get[float64](c, "conversation.max_cost"),
		MaxRequests: int(get[int64](c, "conversation.max_requests")),
		Storage: Storage{
			Format:         Format(get[string](c, "storage.format")),
			MaxBlobBytes:   get[int64](c, "storage.max_blob_bytes"),
			MaxStreamBytes: get[int64](c, "storage.max_stream_bytes"),
		},
		GC: GC{Auto: get[bool](c, "gc.auto"), Grace: get[time.Duration](c, "gc.grace")},
		Network: Network{
			PrivateHosts: get[[]string](c, "network.private_hosts"),
			Connect:      get[time.Duration](c, "network.connect_timeout"),
			FirstToken:   get[time.Duration](c, "network.first_token_timeout"),
		},
		Hooks: Hooks{
			Stage: get[bool](c, "hooks.stage"), Check: get[string](c, "hooks.check"),
			Strict: get[bool](c, "hooks.strict"), Restore: get[bool](c, "hooks.restore"),
		},
		Merge: Merge{Blended: get[string](c, "merge.blended")},
		Trim: Trim{
			Schedule:   get[string](c, "trim.schedule"),
			MinBytes:   get[int64](c, "trim.min_bytes"),
			MinTurns:   int(get[int64](c, "trim.min_turns")),
			MinDelta:   get[float64](c, "trim.min_delta"),
			CacheTurns: int(get[int64](c, "trim.cache_turns")),
		},
		Deduplication: Deduplication{
			Enabled:       get[bool](c, dedup+"enabled"),
			MinBytes:      get[int64](c, dedup+"min_bytes"),
			LookbackTurns: int(get[int64](c, dedup+"lookback_turns")),
			Lines:         get[bool](c, dedup+"lines"),
		},
		Compaction: Compaction{
			Strategy:           get[[]string](c, compaction+"strategy"),
			KeepLast:           int(get[int64](c, compaction+"keep_last")),
			Model:              get[string](c, compaction+"model"),
			SummarizeThreshold: get[float64](c, compaction+"summarize_threshold"),
			SummarizeTokens:    get[int64](c, compaction+"summarize_tokens"),
			Window:             get[int64](c, compaction+"window"),
			Fork:               get[bool](c, compaction+"fork"),
		},
	}
}

// Tool returns the settings of one tool: its own, else those of the tool "*".
func (c *Config) Tool(name string) Tool {
	t := Tool{Deduplicate: true}
	if v, ok := toolValue[bool](c, name, "deduplicate"); ok {
		t.Deduplicate = v
	}
	if v, ok := toolValue[bool](c, name, "compaction", "dedup"); ok {
		t.Compaction.Dedup = &v
	}
	t.Compaction.Response, _ = toolValue[string](c, name, "compaction", "response")
	v, ok := toolValue[string](c, name, "compaction", "subsumes")
	t.Compaction.Subsumes = Trusted[string]{value: v, set: ok}
	v, ok = toolValue[string](c, name, "compaction", "like")
	t.Compaction.Like = Trusted[string]{value: v, set: ok}
	return t
}

func toolValue[T any](c *Config, tool string, rest ...string) (T, bool) {
	for _, name := range []string{tool, "*"} {
		path := append([]string{"conversation", "tools", name}, rest...)
		if st, ok := c.winner(c.stacks[JoinKey(path)]); ok { // called for every turn of a stream
			return st.value.(T), true
		}
	}
	var none T
	return none, false
}

// get returns the value of a key with a default, which always exists.
func get[T any](c *Config, name string) T {
	st, _ := c.effective(name)
	return st.value.(T)
}
