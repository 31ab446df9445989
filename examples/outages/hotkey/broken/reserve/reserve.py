"""Takes from the stock what waiting orders need. Started every minute; an order that finds no stock waits for a later run."""

import os
from datetime import datetime, timedelta

import pymysql

WINDOW = timedelta(days=7)


def connect() -> pymysql.Connection:
    return pymysql.connect(
        host="mysql-primary.shop.svc.cluster.local",
        user="reserve",
        password=os.environ["DB_PASSWORD"],
        database="stock",
        connect_timeout=3,
    )


def run(connection: pymysql.Connection) -> None:
    now = datetime.now()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, sku, quantity FROM pending_orders WHERE created_at BETWEEN %s AND %s",
            (now - WINDOW, now),
        )
        pending_orders = cursor.fetchall()
    for order, sku, quantity in pending_orders:
        reserve(connection, order, sku, quantity)


def reserve(connection: pymysql.Connection, order: int, sku: str, quantity: int) -> None:
    with connection.cursor() as cursor:
        taken = cursor.execute(
            "UPDATE stock SET free = free - %s WHERE sku = %s AND free >= %s",
            (quantity, sku, quantity),
        )
        if taken:
            cursor.execute("DELETE FROM pending_orders WHERE id = %s", (order,))
            cursor.execute("UPDATE orders SET state = 'reserved' WHERE id = %s", (order,))
    connection.commit()


if __name__ == "__main__":
    connection = connect()
    try:
        run(connection)
    finally:
        connection.close()
