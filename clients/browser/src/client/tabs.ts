/**
 * Several tabs, one owner. Tabs tell by Web Locks which of them live and who may use the network, and by a channel
 * that something has changed. A browser without Web Locks (a page without https) does not report.
 */

import { toText } from "../protocol/codec.js";

/** One tab, while its page is shown: a page that the browser puts aside is no tab, and another one when it returns. */
export class Tabs {
  /** The name of this tab; empty while its page is put aside. */
  id = "";
  /** The name, when there is one. */
  arrived: Promise<string> = Promise.resolve("");
  private readonly channel: BroadcastChannel;
  private release = (): void => {};

  constructor(private readonly prefix: string) {
    this.channel = new BroadcastChannel(prefix);
  }

  arrive(): Promise<string> {
    const id = toText(crypto.getRandomValues(new Uint8Array(12)));
    this.arrived = new Promise((resolve, reject) => {
      const living = () =>
        new Promise<void>((release) => {
          this.release = release;
          this.id = id;
          resolve(id);
        });
      navigator.locks.request(this.prefix + id, living).catch(reject);
    });
    return this.arrived;
  }

  leave(): void {
    this.id = "";
    this.arrived = Promise.resolve("");
    this.release();
  }

  close(): void {
    this.leave();
    this.channel.close();
  }

  /** Another tab has changed what is kept. */
  heard(changed: () => void): void {
    this.channel.onmessage = changed;
  }

  /** The names of all tabs that live. */
  async living(): Promise<Set<string>> {
    const { held = [] } = await navigator.locks.query();
    return new Set(held.map(({ name = "" }) => name.slice(this.prefix.length)));
  }

  /** Do this while no other tab does the same. */
  alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    return navigator.locks.request(`${this.prefix}${what}`, work) as Promise<T>;
  }

  /** Tell the other tabs. */
  tell(): void {
    this.channel.postMessage(0);
  }
}
