/**
 * Several tabs, one owner. Tabs tell by Web Locks which of them live and who may use the network, and by a channel
 * that something has changed. A browser without Web Locks (a page without https) does not report.
 */

import { toText } from "../protocol/codec.js";

/** One tab, while its page is shown: a page that the browser puts aside is no tab, and another one when it returns. */
export interface Tabs {
  /** The name of this tab; empty while its page is put aside. */
  readonly id: () => Promise<string>;
  arrive(): void;
  leave(): void;
  close(): void;
  /** The names of all tabs that live. */
  living(): Promise<string[]>;
  /** Do this while no other tab does the same. */
  alone<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** Tell the other tabs that something has changed. */
  tell(): void;
}

/** `heard` is called when another tab has changed what is kept, `closed` when this one is closed. Raises where there are no Web Locks. */
export async function openTabs(prefix: string, heard: () => void, closed: () => void): Promise<Tabs> {
  const { locks } = navigator;
  let id = Promise.resolve("");
  let release = (): void => {};
  const tabs: Tabs = {
    id: () => id,
    arrive() {
      const name = toText(crypto.getRandomValues(new Uint8Array(12)));
      id = new Promise((arrived, failed) => {
        const living = () => new Promise<void>((left) => arrived(((release = left), name)));
        locks.request(prefix + name, living).catch(failed);
      });
    },
    leave() {
      id = Promise.resolve("");
      release();
    },
    close() {
      tabs.leave();
      channel.close();
      closed();
    },
    living: async () => (await locks.query()).held!.map((lock) => lock.name!.slice(prefix.length)),
    alone: (what, work) => locks.request(prefix + what, work) as Promise<never>,
    tell: () => channel.postMessage(0),
  };
  tabs.arrive();
  await id;
  const channel = new BroadcastChannel(prefix);
  channel.onmessage = heard;
  return tabs;
}
