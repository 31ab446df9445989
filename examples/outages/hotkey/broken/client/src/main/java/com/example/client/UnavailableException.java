package com.example.client;

/** The account service gave no answer; whether the entry was added is not known. */
public class UnavailableException extends Exception {

    public UnavailableException(Throwable cause) {
        super("account service", cause);
    }
}
