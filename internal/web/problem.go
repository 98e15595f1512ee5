package web

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/update"
	"github.com/git-jp/git-jp/internal/view"
)

// problemOf returns the status and text of the page for an error. A request for a missing page,
// file or commit is not a failure of the server.
func problemOf(err error) (status int, title, words string) {
	var file *fs.PathError
	switch {
	case errors.Is(err, gitint.ErrZeroByte):
		return http.StatusBadRequest, "Invalid name", "A name must not contain a zero byte."
	case errors.Is(err, errNoCommit):
		return http.StatusNotFound, "There is no commit yet",
			"This page shows what commits have. 'All conversations' has what is not committed."
	case errors.Is(err, update.ErrDetached):
		return http.StatusNotFound, "No branch is checked out",
			"The turns of a branch are those since it left its base."
	case isA[*update.NoBaseError](err):
		return http.StatusNotFound, "This branch has no base",
			"The turns of a branch are those since it left its base, and " + err.Error() +
				". 'git config jp.base main' names one."
	case errors.As(err, &file) && errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound, "No such file", file.Path + " is not in the repository."
	case errors.Is(err, gitint.ErrUnknownRevision):
		return http.StatusNotFound, "No such commit", "No commit has that name."
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound, "No such page", "No page has that address."
	default:
		return http.StatusInternalServerError, "The page cannot be shown", err.Error()
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// problem responds with a page that explains an error.
func (s *Server) problem(w http.ResponseWriter, err error) {
	status, title, words := problemOf(err)
	var page bytes.Buffer
	if err := view.WriteProblem(&page, "/"+s.Token+"/", title, words); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // on an error, the browser has disconnected
}
