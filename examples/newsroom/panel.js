// The panel: what waits to leave, what has left, what it cost and what is left. Everything here is read from the devices.
const REPORTS_SHOWN = 6;
const SEEN = "reports seen";
const element = (selector) => document.querySelector(selector);

export function showPanel(devices) {
  const seen = kept();
  const refresh = async () => {
    const found = await Promise.all(devices.map(async (device) => ({
      device,
      waiting: await device.outbox(),
      balance: await device.balance(),
      optedOut: device.reporting === "opted-out",
    })));
    showAccounts(found);
    showReports(found, seen);
    showConsent(found, refresh);
    showConnection(found);
  };
  element("#promise").textContent = promise(devices);
  addEventListener("online", refresh);
  addEventListener("offline", refresh);
  setInterval(refresh, 1000);
  refresh();
}

function promise(devices) {
  if (devices.length === 0) return "Nothing: the learning server was not reached, so the page has its usual order.";
  const most = Math.max(...devices.map((device) => device.contract.gates[0].epsilon));
  const odds = Math.exp(most).toFixed(0);
  return `At most one short report for each choice, drawn by chance: whatever you do, no report becomes more than ${odds}
    times as likely as it would have been had you done something else.`;
}

function showAccounts(found) {
  const table = document.createElement("table");
  table.innerHTML = "<caption>Privacy budget (epsilon)</caption><thead><tr><th scope='col'>choice</th>" +
    "<th scope='col'>a report costs</th><th scope='col'>spent this week</th><th scope='col'>reports left</th></tr></thead>";
  const body = table.createTBody();
  for (const { device, balance } of found) {
    const row = body.insertRow();
    const cells = [device.contract.id, balance.epsilon, `${balance.windowSpent} of ${balance.window}`, balance.reportsLeft];
    for (const text of cells) row.insertCell().textContent = text;
  }
  element("#accounts").replaceChildren(table);
}

/** What is no longer in an outbox has left, unless the person opted out: then it was withdrawn. */
function showReports(found, seen) {
  const waiting = new Set();
  const out = new Set(found.filter(({ optedOut }) => optedOut).map(({ device }) => device.contract.id));
  for (const { device, waiting: reports } of found) {
    for (const { report, due, epsilon } of reports) {
      waiting.add(report.nonce);
      if (!seen.has(report.nonce)) seen.set(report.nonce, { task: device.contract.id, report, due, epsilon });
    }
  }
  for (const [nonce, one] of seen) {
    if (one.sent || waiting.has(nonce)) continue;
    if (out.has(one.task)) seen.delete(nonce);
    else one.sent = Date.now() / 1000;
  }
  keep(seen);
  const all = [...seen.values()];
  list("#waiting", all.filter((one) => !one.sent), (one) => `${one.task}, leaves at ${clock(one.due)}`);
  list("#sent", all.filter((one) => one.sent), (one) => `${one.task}, at ${clock(one.sent)}`);
}

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();

/** The reports that were seen in an outbox, by their nonces, also after the page was loaded again. */
function kept() {
  try {
    return new Map(JSON.parse(localStorage.getItem(SEEN) ?? "[]"));
  } catch {
    return new Map(); // storage is blocked: nothing was sent
  }
}

function keep(seen) {
  try {
    localStorage.setItem(SEEN, JSON.stringify([...seen].slice(-2 * REPORTS_SHOWN)));
  } catch {
    // the same
  }
}

function list(selector, reports, words) {
  const items = reports.slice(-REPORTS_SHOWN).reverse().map((one) => {
    const item = document.createElement("li");
    const body = document.createElement("code");
    body.textContent = JSON.stringify(one.report);
    item.append(`${words(one)}: ${body.textContent.length} bytes, epsilon ${one.epsilon}`, body);
    return item;
  });
  const none = document.createElement("li");
  none.textContent = "nothing";
  element(selector).replaceChildren(...(items.length ? items : [none]));
}

function showConsent(found, refresh) {
  const out = found.length > 0 && found.every(({ optedOut }) => optedOut);
  const button = element("#consent");
  button.hidden = found.length === 0;
  button.textContent = out ? "Send private reports again" : "Send nothing at all";
  button.onclick = async () => {
    await Promise.all(found.map(({ device }) => (out ? device.optIn() : device.optOut())));
    await refresh();
  };
}

function showConnection(found) {
  const number = found.reduce((sum, { waiting }) => sum + waiting.length, 0);
  element("#connection").textContent = navigator.onLine ? "" : `You are offline. ${number} reports wait until you are back.`;
}
