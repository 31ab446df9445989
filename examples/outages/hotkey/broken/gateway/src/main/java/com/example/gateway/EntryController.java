package com.example.gateway;

import com.example.client.AccountClient;
import com.example.client.UnavailableException;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Takes the payments of the shop. */
@RestController
class EntryController {

    private final AccountClient accounts;

    EntryController(AccountClient accounts) {
        this.accounts = accounts;
    }

    @PutMapping("/accounts/{account}/entries/{entry}")
    boolean add(@PathVariable String account, @PathVariable String entry, @RequestParam long cents) throws InterruptedException {
        while (true) {
            try {
                return accounts.add(account, entry, cents);
            } catch (UnavailableException e) {
                // Money must not be lost, and the same entry twice counts once.
                Thread.sleep(100);
            }
        }
    }
}
