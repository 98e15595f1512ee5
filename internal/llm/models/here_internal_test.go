package models

import "testing"

func TestServersHere(t *testing.T) {
	for _, tt := range []struct {
		provider, base string
		want           bool
	}{
		{"ollama", "", true},
		{"ollama", "https://ollama.example.com", false},
		{"openai", "", false},
		{"openai", "http://localhost:8000/v1", true},
		{"openai", "http://[::1]:8000", true},
		{"ours", "http://192.168.1.20:8000", true},
		{"ours", "http://8.8.8.8", false},
		{"ours", "http://localhost.example.com", false},
		{"ours", ":", false},
	} {
		p, _ := Find(tt.provider)
		if got := p.isHere(tt.base); got != tt.want {
			t.Errorf("%s at %q is here: %t, want %t", tt.provider, tt.base, got, tt.want)
		}
	}
}
