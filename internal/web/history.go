package web

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/git-jp/git-jp/internal/view"
)

// Pages of commits.
const (
	commitsPage = "commits.html"
	branchPage  = "branch.html"
)

// history answers a request for a page of commits or of a file; is reports whether it was one.
func (s *Server) history(w http.ResponseWriter, r *http.Request, name string) (is bool, err error) {
	if s.History == nil {
		return false, nil
	}
	var page bytes.Buffer
	commit, isCommit := strings.CutPrefix(strings.TrimSuffix(name, ".html"), "commit-")
	switch {
	case name == commitsPage:
		err = s.commits(&page, r)
	case name == "file":
		err = s.file(&page, r)
	case name == branchPage:
		err = s.added(&page, r, "")
	case isCommit && commit != "":
		err = s.added(&page, r, commit)
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, write(w, r, page.Bytes())
}

func (s *Server) commits(page *bytes.Buffer, r *http.Request) error {
	all, err := s.History.Commits(r.Context())
	if err != nil {
		return err
	}
	return view.WriteCommits(page, "./", all)
}

// added writes the complete turns that a commit or the branch added.
func (s *Server) added(page *bytes.Buffer, r *http.Request, commit string) error {
	title, all, err := s.History.Added(r.Context(), commit)
	if err != nil {
		return err
	}
	for i := range all { // the head of a page with one conversation is that one's
		all[i].Facts = append(all[i].Facts, view.Fact{Name: "Shown", Value: title})
	}
	doc := s.Page
	doc.Title, doc.Home, doc.Link, doc.File = title, "./", s.pageOf, s.History.File
	_, err = doc.Write(page, all...) // what is absent is marked
	return err
}

func (s *Server) file(page *bytes.Buffer, r *http.Request) error {
	file := r.URL.Query().Get("path")
	s.loading.Lock()
	defer s.loading.Unlock()
	all, err := s.History.Lines(r.Context(), file)
	if err != nil {
		return err
	}
	return view.WriteLines(page, "./", file, all)
}
