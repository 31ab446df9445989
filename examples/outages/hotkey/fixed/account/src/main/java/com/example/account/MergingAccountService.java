package com.example.account;

import com.example.api.AccountService;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.dubbo.config.annotation.DubboService;
import org.springframework.beans.factory.annotation.Value;

/** One merger for each part of an account that is known to be hot. */
@DubboService
public class MergingAccountService implements AccountService {

    private static final int PARTS = 4;

    private final Map<String, Merger> mergers = new HashMap<>();

    public MergingAccountService(Ledger ledger, @Value("${hot-accounts}") List<String> accounts) {
        for (String account : accounts) {
            for (int i = 0; i < PARTS; i++) {
                Merger merger = new Merger(account + "#" + i, ledger);
                merger.start();
                mergers.put(account + "#" + i, merger);
            }
        }
    }

    @Override
    public CompletableFuture<Boolean> add(String account, String entry, long cents) {
        Merger merger = mergers.get(account);
        if (merger == null) {
            throw new IllegalArgumentException("not a hot account: " + account);
        }
        return merger.add(new Entry(entry, cents));
    }
}
