package com.example.account;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.concurrent.CompletableFuture;

/** An entry that waits to be written, where to tell its caller, and from when on (in nanoseconds) nobody wants to know. */
record Entry(String id, long cents, CompletableFuture<Boolean> written, long expires) {

    /** What the least patient caller allows. */
    private static final long PATIENCE = MILLISECONDS.toNanos(150);

    Entry(String id, long cents) {
        this(id, cents, new CompletableFuture<>(), System.nanoTime() + PATIENCE);
    }

    boolean expired() {
        return System.nanoTime() - expires >= 0;
    }
}
