package check

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"slices"
	"strings"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Results    []sarifResult `json:"results"`
		ColumnKind string        `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string      `json:"id"`
		ShortDescription     sarifText   `json:"shortDescription"`
		DefaultConfiguration sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   jsonFinding       `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	homepage    = "https://github.com/git-jp/git-jp"
)

// SARIF writes the report as SARIF 2.1.0, which forges show beside the code. The properties of a
// result hold the complete finding.
func (p Printer) SARIF(w io.Writer, r *Report) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "git-jp", Version: p.Version, InformationURI: homepage, Rules: sarifRules(),
		}},
		Results:    make([]sarifResult, 0, len(r.Findings)),
		ColumnKind: "utf16CodeUnits",
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, p.sarifResult(f, run.Tool.Driver.Rules))
	}
	return writeJSON(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "  ")
}

func sarifRules() []sarifRule {
	var rules []sarifRule
	for _, s := range states() {
		rules = append(rules, sarifRule{
			string(s.State), sarifText{s.Text}, sarifConfig{s.State.Severity().String()},
		})
	}
	return rules
}

func (p Printer) sarifResult(f Finding, rules []sarifRule) sarifResult {
	rule := string(f.State)
	res := sarifResult{
		RuleID:       rule,
		RuleIndex:    slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == rule }),
		Level:        f.Severity.String(),
		Message:      sarifText{sarifPlain(p.message(f))},
		Fingerprints: map[string]string{"gitJp/v1": f.fingerprint()},
		Properties:   toJSON(f),
	}
	if f.Path != "" {
		res.Locations = []sarifLocation{{sarifPhysical{
			sarifArtifact{(&url.URL{Path: f.Path}).String()}, sarifRegion{f.Line},
		}}}
	}
	return res
}

// sarifPlain escapes what SARIF readers interpret as links in a message (3.11.6 of the standard),
// so that the author of a title cannot add links.
func sarifPlain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
}

// fingerprint identifies a finding in its report, and is the same in the next commit.
func (f *Finding) fingerprint() string {
	k := f.key()
	sum := sha256.Sum256([]byte(strings.Join(
		[]string{string(k.state), k.path, k.what, k.hash.String()}, "\x00",
	)))
	return hex.EncodeToString(sum[:])
}
