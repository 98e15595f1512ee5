// Package refstore reads refs and reflogs as git stores them: as files, with packed-refs, and as
// reftables.
//
// What it keeps true:
//
//   - It reads only and starts no process, and the objects of refs are not looked at.
//   - Never a silent subset: a store that is damaged, or lacks a part, is an error; a ref without a
//     value, such as the empty file that a crash leaves, is returned by name. Git lists the
//     readable part of a damaged table and succeeds.
//   - A ref that git moves meanwhile, from a file to packed-refs or from one table to another, is
//     found.
package refstore
