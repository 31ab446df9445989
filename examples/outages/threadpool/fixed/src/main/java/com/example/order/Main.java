package com.example.order;

import java.util.concurrent.CountDownLatch;
import org.springframework.context.support.ClassPathXmlApplicationContext;

public final class Main {

    private Main() {
    }

    public static void main(String[] args) throws InterruptedException {
        ClassPathXmlApplicationContext context = new ClassPathXmlApplicationContext("spring/provider.xml", "spring/databases.xml");
        context.registerShutdownHook();
        new CountDownLatch(1).await();
    }
}
