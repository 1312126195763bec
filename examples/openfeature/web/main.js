// A page that asks for its flag through OpenFeature. The flag is a task of a Sottovoce server: this browser decides it.
import { OpenFeature } from "@openfeature/web-sdk";
import { SottovoceProvider } from "sottovoce/openfeature";

export const BUTTONS = {
  Quiet: { text: "Buy", colour: "grey" },
  Friendly: { text: "Yes, please", colour: "green" },
  Urgent: { text: "Buy now!", colour: "red" },
};

/** One visitor: `button` is what to show and why, `bought` says that it was pressed. A page has one; tests have many. */
export async function visit(server, { task = "checkout", visitor = "visitor", ...options } = {}) {
  const provider = new SottovoceProvider(server, { checkout: { task, values: BUTTONS, event: "bought" } }, options);
  await OpenFeature.setProviderAndWait(visitor, provider);
  const client = OpenFeature.getClient(visitor);
  const button = client.getObjectDetails("checkout", BUTTONS.Quiet);
  return { button, bought: () => client.track("bought", { value: 1 }) };
}
