package blobs

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// member compresses b with the standard library, as another program might.
func member(b []byte, level int, h stdgzip.Header) []byte {
	var buf bytes.Buffer
	z, err := stdgzip.NewWriterLevel(&buf, level)
	if err != nil {
		panic(err)
	}
	z.Header = h
	_, _ = z.Write(b)
	_ = z.Close()
	return buf.Bytes()
}

var (
	hello     = []byte("hello\n")
	stdHeader = stdgzip.Header{Name: "hello", ModTime: time.Unix(1e9, 0), OS: 3}
)

func TestDecode_acceptsAnyGzip(t *testing.T) {
	long := random(200_000)
	full := stdgzip.Header{
		Name: "a name", Comment: "a comment", Extra: bytes.Repeat([]byte("x"), 0xffff),
		ModTime: time.Unix(1e9, 0), OS: 3,
	}
	none := stdgzip.Header{}
	tests := map[string]struct{ gz, content []byte }{
		"canonical":       {Encode(hello), hello},
		"empty":           {Encode(nil), nil},
		"stored":          {member(long, 0, none), long},
		"best":            {member(long, 9, none), long},
		"full header":     {member(hello, 1, full), hello},
		"two members":     {append(Encode(hello[:2]), member(hello[2:], 1, full)...), hello},
		"empty members":   {bytes.Repeat(Encode(nil), 50), nil},
		"empty at end":    {append(Encode(long), bytes.Repeat(Encode(nil), 50)...), long},
		"empty at start":  {append(bytes.Repeat(Encode(nil), 50), Encode(long)...), long},
		"a member a byte": {perByte(hello), hello},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ref := RefTo(tt.content)
			got, err := Decode(tt.gz, ref)
			if err != nil || !bytes.Equal(got, tt.content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if cap(got) > len(got) {
				t.Errorf("%d bytes in a buffer of %d", len(got), cap(got))
			}
			if err := Verify(tt.gz, ref, 0); err != nil {
				t.Errorf("Verify: %v", err)
			}
		})
	}
}

func perByte(b []byte) (gz []byte) {
	for i := range b {
		gz = append(gz, Encode(b[i:i+1])...)
	}
	return gz
}

func TestDecode_damage(t *testing.T) {
	gz := Encode(hello)
	flip := func(at int) []byte {
		b := bytes.Clone(gz)
		b[(at+len(b))%len(b)] ^= 0x10
		return b
	}
	named := member(nil, 6, stdgzip.Header{Name: "name"})
	tests := map[string]struct {
		gz     []byte
		reason string
	}{
		"nothing":              {nil, "is empty"},
		"text":                 {hello, "is not gzip"},
		"one byte":             {gz[:1], "is not gzip"},
		"magic":                {gz[:2], "ends early"},
		"header":               {gz[:10], "ends early"},
		"cut in a name":        {named[:12], "ends early"},
		"half":                 {gz[:len(gz)/2], "ends early"},
		"no trailer":           {gz[:len(gz)-8], "ends early"},
		"half a trailer":       {gz[:len(gz)-1], "ends early"},
		"method":               {flip(2), "does not decompress"},
		"data":                 {flip(12), ""},
		"crc":                  {flip(-8), "does not decompress"},
		"length":               {flip(-1), "does not decompress"},
		"trailing zero":        {append(bytes.Clone(gz), 0), "ends early"},
		"trailing zeros":       {append(bytes.Clone(gz), make([]byte, 512)...), "does not decompress"},
		"trailing text":        {append(bytes.Clone(gz), "conflict markers"...), "does not decompress"},
		"trailing half member": {append(bytes.Clone(gz), gz[:15]...), "ends early"},
		"trailing half name":   {append(bytes.Clone(gz), named[:12]...), "ends early"},
		"trailing half header": {append(bytes.Clone(gz), gz[:5]...), "ends early"},
		"trailing magic":       {append(bytes.Clone(gz), gz[:2]...), "ends early"},
		"other content":        {Encode([]byte("jello\n")), "another hash"},
		"shorter other":        {Encode([]byte("hell")), "another hash"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ref := RefTo(hello)
			got, err := Decode(tt.gz, ref)
			if got != nil {
				t.Errorf("%d bytes beside an error", len(got))
			}
			for _, err := range []error{err, Verify(tt.gz, ref, 1<<20)} {
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) || corrupt.Hash != ref.Hash {
					t.Fatalf("error %v", err)
				}
				if !strings.Contains(err.Error(), tt.reason) ||
					!strings.Contains(err.Error(), ref.Hash.String()) {
					t.Errorf("message %q", err)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A flipped bit is detected, or does not affect the content.
func TestDecode_everyBit(t *testing.T) {
	content := []byte(strings.Repeat("to be or not to be ", 20))
	gz, ref := Encode(content), RefTo(content)
	for i := range len(gz) * 8 {
		b := bytes.Clone(gz)
		b[i/8] ^= 1 << (i % 8)
		got, err := Decode(b, ref)
		if err == nil && !bytes.Equal(got, content) {
			t.Fatalf("bit %d: wrong content without an error", i)
		}
		if err != nil && got != nil {
			t.Fatalf("bit %d: content and an error", i)
		}
	}
}

func TestDecode_wrongSize(t *testing.T) {
	gz := Encode(hello)
	for _, tt := range []struct{ size, decoded, verified int64 }{
		{0, -1, 6}, {5, -1, 6}, {7, 6, 6}, {1 << 40, 6, 6}, {-1, 0, 6},
	} {
		ref := Ref{Hash: Sum(hello), Size: tt.size}
		var size *SizeError
		err := Verify(gz, ref, 100)
		if !errors.As(err, &size) || size.Ref != ref || size.Actual != tt.verified {
			t.Errorf("Verify, size %d: %v", tt.size, err)
		}
		_, err = Decode(gz, ref)
		if tt.size < 0 {
			var limit *LimitError
			if !errors.As(err, &limit) {
				t.Errorf("Decode, size %d: %v", tt.size, err)
			}
			continue
		}
		if !errors.As(err, &size) || size.Ref != ref || size.Actual != tt.decoded {
			t.Errorf("Decode, size %d: %v", tt.size, err)
		}
	}
	// Beyond the limit the size is unknown.
	var size *SizeError
	long := random(200_000)
	err := Verify(Encode(long), Ref{Hash: Sum(long), Size: 1}, 100_000)
	if !errors.As(err, &size) || size.Actual != -1 {
		t.Errorf("Verify over the limit: %v", err)
	}
	err = Verify(Encode(long), Ref{Hash: Sum(long), Size: 1}, 200_000)
	if !errors.As(err, &size) || size.Actual != 200_000 {
		t.Errorf("Verify within the limit: %v", err)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) int64 {
	f() // fill the pools
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func TestDecode_bomb(t *testing.T) {
	bomb := bytes.Repeat(Encode(make([]byte, 4<<20)), 64) // 256 MiB in 260 KB
	ref := Ref{Hash: Sum(hello), Size: 1000}
	var err error
	if n := allocated(func() { _, err = Decode(bomb, ref) }); n > 256<<10 {
		t.Errorf("%d bytes allocated for a reference to 1000", n)
	}
	var size *SizeError
	if !errors.As(err, &size) || size.Actual != -1 {
		t.Errorf("error %v", err)
	}
	c := counter{r: bytes.NewReader(bomb)}
	if _, err := decode(&c, int64(len(bomb)), ref); err == nil || c.n > 256<<10 {
		t.Errorf("%d bytes of the file read, %v", c.n, err)
	}
	c = counter{r: bytes.NewReader(bomb)}
	if err := verify(&c, ref, 1<<20); !errors.As(err, &size) || c.n > 256<<10 {
		t.Errorf("Verify: %d bytes of the file read, %v", c.n, err)
	}
}

func TestDecode_referenceThatLies(t *testing.T) {
	ref := Ref{Hash: Sum(hello), Size: 1 << 50}
	gz := Encode(hello)
	var err error
	if n := allocated(func() { _, err = Decode(gz, ref) }); n > 256<<10 {
		t.Errorf("%d bytes allocated for 6 bytes", n)
	}
	var size *SizeError
	if !errors.As(err, &size) || size.Actual != 6 {
		t.Errorf("error %v", err)
	}
	// A file that claims to be large allocates no more.
	f := fstest.MapFS{ref.Hash.Path(): {Data: gz}}
	if n := allocated(func() { _, err = FS(huge{f}, 1<<60).Read(ref) }); n > maxBuffer+(256<<10) {
		t.Errorf("%d bytes allocated for 6 bytes of a huge file", n)
	}
}

// huge is a file system whose files claim to be huge.
type huge struct{ fs.FS }

func (h huge) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	return hugeFile{f}, err
}

type hugeFile struct{ fs.File }

func (f hugeFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return hugeInfo{info}, err
}

type hugeInfo struct{ fs.FileInfo }

func (hugeInfo) Size() int64 { return 1 << 50 }

func TestDecode_pointer(t *testing.T) {
	oid := Sum([]byte("the file")).String()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 1234\n"
	crlf := strings.ReplaceAll(pointer, "\n", "\r\n")
	extended := strings.Replace(pointer, "oid", "ext-0-foo sha256:"+oid+"\noid", 1)
	ref := RefTo(hello)
	for _, s := range []string{pointer, crlf, extended, strings.TrimSuffix(pointer, "\n")} {
		for _, err := range []error{second(Decode([]byte(s), ref)), Verify([]byte(s), ref, 0)} {
			var p *PointerError
			if !errors.As(err, &p) || *p != (PointerError{ref.Hash, oid, 1234}) {
				t.Errorf("%q: %v", s, err)
			}
		}
		if !IsPointer([]byte(s)) || !IsPointer([]byte(s)[:60]) {
			t.Errorf("%q is no pointer", s)
		}
	}
	for _, s := range []string{
		"", "version https://git-lfs.github.com/spec/v1", "version https://git-lfs.github.com/spec/v10\n",
		"VERSION https://git-lfs.github.com/spec/v1\n", string(Encode(hello)),
	} {
		if IsPointer([]byte(s)) {
			t.Errorf("%q is a pointer", s)
		}
	}
	for _, s := range []string{
		strings.Replace(pointer, "1234", "-1", 1), strings.Replace(pointer, "1234", "x", 1),
		strings.Replace(pointer, oid, oid[1:], 1), strings.Replace(pointer, oid, "x"+oid[1:], 1),
		strings.Replace(pointer, "size", "sise", 1), strings.Replace(pointer, "sha256", "md5", 1),
		pointer + strings.Repeat("x", maxPointer),
	} {
		var corrupt *CorruptError
		if err := second(Decode([]byte(s), ref)); !errors.As(err, &corrupt) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// failing is a file that fails after some bytes.
type failing struct {
	r   io.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

// An error of the disk says nothing about the content, so it is not reported as corrupt.
func TestDecode_errorOfTheFile(t *testing.T) {
	broken := errors.New("disk on fire")
	content := random(100_000)
	gz, ref := Encode(content), RefTo(content)
	for _, n := range []int{0, 1, 2, 5, 10, 5000, 90_000, len(gz) - 1, len(gz)} {
		var corrupt *CorruptError
		_, err := decode(failing{bytes.NewReader(gz[:n]), broken}, int64(len(gz)), ref)
		if !errors.Is(err, broken) || errors.As(err, &corrupt) {
			t.Errorf("decode after %d bytes: %v", n, err)
		}
		err = verify(failing{bytes.NewReader(gz[:n]), broken}, ref, 0)
		if !errors.Is(err, broken) || errors.As(err, &corrupt) {
			t.Errorf("verify after %d bytes: %v", n, err)
		}
	}
}

func TestFS(t *testing.T) {
	ref := RefTo(hello)
	other := RefTo([]byte("jello\n"))
	dir := RefTo([]byte("dir"))
	link := RefTo([]byte("link"))
	r := FS(fstest.MapFS{
		ref.Hash.Path():           {Data: Encode(hello)},
		other.Hash.Path():         {Data: Encode(hello)},
		dir.Hash.Path() + "/file": {Data: nil},
		link.Hash.Path():          {Data: []byte("x"), Mode: fs.ModeSocket},
	}, 100)
	if b, err := r.Read(ref); err != nil || !bytes.Equal(b, hello) {
		t.Errorf("%q, %v", b, err)
	}
	var corrupt *CorruptError
	for _, ref := range []Ref{other, dir, link} {
		if _, err := r.Read(ref); !errors.As(err, &corrupt) {
			t.Errorf("%v: %v", ref, err)
		}
	}
	missing := RefTo([]byte("missing"))
	_, err := r.Read(missing)
	if !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "read blob "+missing.Hash.String()) {
		t.Errorf("missing: %v", err)
	}
	var limit *LimitError
	if _, err := r.Read(Ref{ref.Hash, 101}); !errors.As(err, &limit) || limit.Max != 100 {
		t.Errorf("limit: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	content := []byte(strings.Repeat("to be or not to be ", 20))
	gz := Encode(content)
	f.Add(gz, int64(len(content)))
	f.Add(append(Encode(content[:7]), Encode(content[7:])...), int64(len(content)))
	f.Add(member(content, 0, stdgzip.Header{Name: "n", Comment: "c", Extra: []byte("e")}), int64(3))
	f.Add(gz[:20], int64(1<<40))
	f.Add([]byte(pointerVersion+"\noid sha256:"+emptyHex+"\nsize 1\n"), int64(0))
	f.Add([]byte{}, int64(-1))
	f.Fuzz(func(t *testing.T, gz []byte, size int64) {
		ref := Ref{Hash: Sum(content), Size: size}
		got, err := Decode(gz, ref)
		if (err == nil) != bytes.Equal(got, content) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if verr := Verify(gz, ref, 1<<20); (verr == nil) != (err == nil) {
			t.Fatalf("Decode %v, Verify %v", err, verr)
		}
		if int64(cap(got)) > max(0, size) {
			t.Fatalf("a buffer of %d for a reference to %d", cap(got), size)
		}
		// If the standard library reads a file, Decode reads the same content.
		sameAsStandard(t, gz)
	})
}

// sameAsStandard compares Decode with compress/gzip, which accepts a header that is truncated in a
// name as the end, and reserved flags that must be zero.
func sameAsStandard(t *testing.T, gz []byte) {
	t.Helper()
	z, err := stdgzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return
	}
	want, err := io.ReadAll(io.LimitReader(z, 1<<20))
	if err != nil || len(want) == 1<<20 {
		return
	}
	got, err := Decode(gz, RefTo(want))
	var corrupt *CorruptError
	if errors.As(err, &corrupt) &&
		(errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, stdgzip.ErrHeader)) {
		return
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, %v; want %d", len(got), err, len(want))
	}
}

func TestDecodeHash(t *testing.T) {
	gz := Encode(hello)
	got, err := DecodeHash(gz, Sum(hello))
	if err != nil || !bytes.Equal(got, hello) {
		t.Errorf("%q, %v", got, err)
	}
	lying := bytes.Clone(gz)
	lying[len(lying)-trailerBytes]++
	for name, damaged := range map[string][]byte{
		"nothing": nil, "a few bytes": gz[:3], "cut": gz[:len(gz)-1], "another size": lying,
		"another content": Encode([]byte("another")),
	} {
		if got, err := DecodeHash(damaged, Sum(hello)); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
