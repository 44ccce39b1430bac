// Package organisation holds who works for a tenant: people, their posts, departments and superiors, each for a period
// of days. It reads them from a CSV file, checks them, and says for any day who stands above whom.
//
// A row of the file is one post of one person. A row without employee number describes a department only; a department
// without posts of its own needs one. The columns stand in any order, named in Japanese or English (columns.go):
//
//   - employee_number is the identity of a person: one number never means two people, and accounts are matched to it.
//   - name, email (several with ; or line breaks between), employment and manager belong to the person. Rows that hold
//     on the same day must agree on them, or leave them empty. Addresses of all rows add up, whatever their days.
//   - department_name and parent_department (a code) belong to the department, by the same rule. A department exists on
//     the days on which one of its rows holds, and has no name but its code where no row names it. Where it is only
//     named as a parent it exists, too: Gaps says so, as its own parent is then that of other days, or unknown.
//   - rank belongs to the position: 1 is the highest, and a position without rank leads nobody.
//   - post says whether it is the person's main post, which it is unless said otherwise. Each person has exactly one
//     main post on each day.
//   - valid_from and valid_to are the first and the last day on which the row holds; empty means without bound. Days
//     are those of the tenant's zone. No function of this package asks what day it is.
package organisation
