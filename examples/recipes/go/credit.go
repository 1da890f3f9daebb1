// Go with pgx: the errors of the claim have SQLSTATEs of class KJ.
//
//	DATABASE_URL=postgresql://… K8SJOB_JOB=billing/daily-credit K8SJOB_PERIOD=2026-09-13 ./credit 10
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// region: credit
func credit(ctx context.Context, conn *pgx.Conn, job, period string, amount int) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) // does nothing after the commit
	payload := strconv.Itoa(amount)
	if _, err := tx.Exec(ctx, "SELECT k8sjob.claim_text($1, $2, $3)", job, period, payload); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance + $1 WHERE name = 'alice'", amount); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// endregion

// region: errors
// A duplicate had nothing to do; a conflict is no better at the next try.
var exitCodes = map[string]int{"KJ001": 0, "KJ002": 65}

func run() error {
	ctx := context.Background()
	amount, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return credit(ctx, conn, os.Getenv("K8SJOB_JOB"), os.Getenv("K8SJOB_PERIOD"), amount)
}

func main() {
	err := run()
	if err == nil {
		fmt.Println("applied")
		return
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "%s %s. %s\n  %s\n", refused.Code, refused.Message, refused.Detail, refused.Hint)
	if code, known := exitCodes[refused.Code]; known {
		os.Exit(code)
	}
	os.Exit(1)
}

// endregion
