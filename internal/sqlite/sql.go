package sqlite

import (
	"slices"
	"strings"
)

// words splits SQL into words, quoted names and single signs, without comments. Quoted names begin
// with a quote, so that they are not mistaken for keywords.
func words(sql string) (all []string) {
	for sql != "" {
		c := sql[0]
		n := 1
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
			continue
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql, "*/")
			continue
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			sql = sql[1:]
			continue
		case c == '[':
			name, rest, _ := strings.Cut(sql[1:], "]")
			all, sql = append(all, `"`+name), rest
			continue
		case c == '"' || c == '`' || c == '\'':
			var name string
			name, sql = quoted(sql)
			all = append(all, `"`+name)
			continue
		case inWord(c):
			for n < len(sql) && inWord(sql[n]) {
				n++
			}
		}
		all, sql = append(all, sql[:n]), sql[n:]
	}
	return all
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// quoted reads a name in quotes, in which a quote is doubled.
func quoted(sql string) (name, rest string) {
	var b strings.Builder
	quote := sql[:1]
	for rest = sql[1:]; ; {
		part, after, ok := strings.Cut(rest, quote)
		b.WriteString(part)
		if !ok || !strings.HasPrefix(after, quote) {
			return b.String(), after
		}
		b.WriteString(quote)
		rest = after[1:]
	}
}

func unquoted(word string) string { return strings.TrimPrefix(word, `"`) }

// inParentheses returns the words of the first list of a statement, by item, and those after it.
func inParentheses(all []string) (items [][]string, after []string) {
	depth := 0
	var item []string
	for i, w := range all {
		switch {
		case w == "(":
			if depth++; depth == 1 {
				continue
			}
		case w == ")":
			if depth--; depth == 0 {
				return append(items, item), all[i+1:]
			}
		case w == "," && depth == 1:
			items, item = append(items, item), nil
			continue
		}
		if depth > 0 {
			item = append(item, w)
		}
	}
	return items, nil
}

func has(words []string, keyword string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.EqualFold(w, keyword)
	})
}

// maxStatement is more bytes than anyone writes to make a table.
const maxStatement = 64 << 10

// define reads the columns of a table from the statement that made it.
func (t *Table) define(sql string) error {
	if len(sql) > maxStatement {
		t.err = unreadable(t.name, "is made by a statement that is too long")
		return nil
	}
	items, after := inParentheses(words(sql))
	if has(after, "WITHOUT") {
		t.err = unreadable(t.name, "is one without row ids")
		return nil
	}
	for _, item := range items {
		if len(item) == 0 {
			return damaged("table %s has a column without a name", t.name)
		}
		switch strings.ToUpper(item[0]) {
		case "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN":
			t.constrain(item)
			if has(item, "PRIMARY") || has(item, "UNIQUE") {
				t.unique = append(t.unique, "") // of more than one column, perhaps
			}
			continue
		}
		name, rest := fold(unquoted(item[0])), item[1:]
		if has(rest, "AS") && !has(rest, "STORED") {
			continue // computed when it is read
		}
		if len(rest) > 0 && strings.EqualFold(rest[0], "INTEGER") && has(rest, "PRIMARY") &&
			!has(rest, "DESC") {
			t.alias = len(t.columns)
		}
		if has(rest, "PRIMARY") || has(rest, "UNIQUE") {
			t.unique = append(t.unique, name)
		}
		if has(rest, "COLLATE") {
			t.collated[name] = true
		}
		t.columns[name] = len(t.columns)
		t.types = append(t.types, rest)
	}
	return nil
}

// constrain reads the column that is the row's id from a list of the key's columns.
func (t *Table) constrain(item []string) {
	columns, _ := inParentheses(item)
	if !has(item, "PRIMARY") || len(columns) != 1 || len(columns[0]) != 1 {
		return
	}
	i, ok := t.columns[fold(unquoted(columns[0][0]))]
	if ok && len(t.types[i]) > 0 && strings.EqualFold(t.types[i][0], "INTEGER") {
		t.alias = i
	}
}

// leads returns the first column of an index that has all rows in the order of bytes.
func leads(sql string) (column string, ok bool) {
	if len(sql) > maxStatement {
		return "", false
	}
	items, after := inParentheses(words(sql))
	if len(items) == 0 || len(items[0]) != 1 || has(after, "WHERE") {
		return "", false // of an expression, in another order, of some rows
	}
	return fold(unquoted(items[0][0])), true
}

// fold makes names equal that SQLite treats as the same.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}
