// How a page follows a view. docs/gateway.md quotes it, and the test of the console runs it.

// [follow]
// Rows as they are now, by what `keyOf` gives for each, whatever becomes of the connection.
function follow(address, secret, keyOf) {
  const rows = new Map();
  let token = null;
  function connect() {
    const from = token ? `?resume=${token}` : '';
    const socket = new WebSocket(`${address}/subscribe${from}`, ['weir.v1', `bearer.${secret}`]);
    if (!token) rows.clear();
    let isOpen = false;
    let part = [];
    socket.onopen = () => { isOpen = true; };
    socket.onmessage = ({data}) => {
      const message = JSON.parse(data);
      (message.rows ?? []).forEach((row, i) => part.push([row, message.weights?.[i] ?? 1]));
      if (!message.token) return;  // more of it comes
      for (const [row, weight] of part) if (weight < 0) rows.delete(keyOf(row));
      for (const [row, weight] of part) if (weight > 0) rows.set(keyOf(row), row);
      part = [];
      token = message.token;
    };
    socket.onclose = ({code}) => {
      if (!isOpen || code >= 4000) token = null;  // refused or ended: begin again with the rows
      setTimeout(connect, 1000);
    };
  }
  connect();
  return rows;
}
// [/follow]
