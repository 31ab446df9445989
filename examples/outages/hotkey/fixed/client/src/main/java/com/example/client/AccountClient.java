package com.example.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.alibaba.nacos.api.exception.NacosException;
import com.alibaba.nacos.api.naming.pojo.Instance;
import com.example.api.AccountService;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.zip.CRC32;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.rpc.RpcException;

/** Calls the one server that merges the entries of an account, so that nobody else wants the lock of its row. */
public class AccountClient {

    /** The name that Dubbo registers. */
    private static final String SERVICE = "providers:" + AccountService.class.getName() + "::";
    /** A hot account is this many rows; its balance is their sum. */
    private static final int PARTS = 4;

    private final ServerList servers;
    private final Duration timeout;
    private final Map<String, AccountService> stubs = new ConcurrentHashMap<>();

    public AccountClient(ServerList servers, Duration timeout) {
        this.servers = servers;
        this.timeout = timeout;
    }

    public boolean add(String account, String entry, long cents) throws UnavailableException, InterruptedException {
        try {
            // By the entry, so that the second try of an entry meets the first.
            String part = account + "#" + hash(entry) % PARTS;
            CompletableFuture<Boolean> answer = owner(part).add(part, entry, cents);
            try {
                return answer.get(timeout.toMillis(), MILLISECONDS);
            } finally {
                answer.cancel(true);
            }
        } catch (TimeoutException | ExecutionException | NacosException | RpcException e) {
            throw new UnavailableException(e);
        }
    }

    /** The server with the highest hash: when one goes, only its own keys move, to owners that all callers agree on. */
    private AccountService owner(String part) throws NacosException {
        List<Instance> peers = servers.of(SERVICE);
        Instance owner = Collections.max(peers, Comparator.comparingInt(peer -> hash(peer.toInetAddr() + " " + part)));
        return stubs.computeIfAbsent(owner.toInetAddr(), this::connect);
    }

    private AccountService connect(String address) {
        ReferenceConfig<AccountService> reference = new ReferenceConfig<>();
        reference.setInterface(AccountService.class);
        reference.setUrl("dubbo://" + address);
        reference.setTimeout((int) timeout.toMillis());
        reference.setRetries(0);
        return reference.get();
    }

    private static int hash(String key) {
        CRC32 crc = new CRC32();
        crc.update(key.getBytes(UTF_8));
        return (int) (crc.getValue() >>> 1);
    }
}
