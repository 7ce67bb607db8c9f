// Package file has lines of JSON as a source and as a sink: files, and the standard streams.
package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Sink appends a line for each document. It is a wire.Sink, and in order.
type Sink struct {
	write  func(lines []byte) error
	close  func() error
	format string
}

// NewSink opens a file, which other workers, pipelines and processes may append to as well.
func NewSink(path, format string) (*Sink, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &Sink{write: func(lines []byte) error { return appendTo(f, lines) }, close: f.Close, format: format}, nil
}

// appendTo adds lines while no other sink does, and has them on the disk. What a crash left of a line is removed first: its event comes again.
func appendTo(f *os.File, lines []byte) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	defer syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	whole, err := afterLastLine(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Write(lines)
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// CheckPath says whether a file could be appended to, and makes none.
func CheckPath(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(path))
		return err
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// NewStream writes to a stream that is not its own, such as standard output.
func NewStream(out io.Writer, format string) *Sink {
	write := func(lines []byte) error {
		_, err := out.Write(lines)
		return err
	}
	return &Sink{write: write, close: func() error { return nil }, format: format}
}

// afterLastLine is the offset behind the last newline.
func afterLastLine(f *os.File) (int64, error) {
	end, err := f.Seek(0, io.SeekEnd)
	block := make([]byte, 64<<10)
	for err == nil && end > 0 {
		n := min(end, int64(len(block)))
		if _, err = f.ReadAt(block[:n], end-n); err != nil {
			break
		}
		if at := bytes.LastIndexByte(block[:n], '\n'); at >= 0 {
			return end - n + int64(at) + 1, nil
		}
		end -= n
	}
	return end, err
}

// InOrder implements wire.InOrder.
func (s *Sink) InOrder() {}

// Check implements wire.Sink: a file that could be opened can be written.
func (s *Sink) Check(context.Context) error { return nil }

// Close implements wire.Sink.
func (s *Sink) Close(context.Context) error { return s.close() }

// Send implements wire.Sink. Lines are on the disk when it returns.
func (s *Sink) Send(_ context.Context, documents []*wire.Document) []error {
	var lines bytes.Buffer
	for _, d := range documents {
		lines.Write(Line(d, s.format))
	}
	return wire.All(documents, s.write(lines.Bytes()))
}

// line is a document of a format that leaves the event's properties to headers.
type line struct {
	ID      string            `json:"id"`
	Source  string            `json:"source,omitempty"`
	Type    string            `json:"type,omitempty"`
	Key     string            `json:"key,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Payload json.RawMessage   `json:"payload"`
}

// Line is a document in one line. Formats whose documents say all about the event stand as they are.
func Line(d *wire.Document, format string) []byte {
	var text bytes.Buffer
	body := d.Body
	if format == wire.Native || format == wire.CloudEventsBinary {
		e := d.Event
		if !json.Valid(body) {
			body = fmt.Appendf(nil, "%q", strings.ToValidUTF8(string(body), "\uFFFD"))
		}
		body, _ = json.Marshal(line{ID: e.ID, Source: e.Origin, Type: e.Type, Key: e.Key, Headers: d.Headers, Payload: body})
	}
	if json.Compact(&text, body) != nil {
		text.Reset()
		text.Write(bytes.ReplaceAll(body, []byte("\n"), []byte(" ")))
	}
	text.WriteByte('\n')
	return text.Bytes()
}
