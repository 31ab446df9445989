package com.example.order;

import java.io.Serializable;

/** An order of a customer. */
public final class Order implements Serializable {

    private static final long serialVersionUID = 1;

    private final String id;
    private final String customer;
    private final String sku;
    private final int quantity;

    public Order(String id, String customer, String sku, int quantity) {
        this.id = id;
        this.customer = customer;
        this.sku = sku;
        this.quantity = quantity;
    }

    public String id() {
        return id;
    }

    public String customer() {
        return customer;
    }

    public String sku() {
        return sku;
    }

    public int quantity() {
        return quantity;
    }
}
