/** What one tab knows of its task. Where there is storage, that is a copy of what all tabs share. */

import type { Joined, Tables, Vault } from "./vault.js";

export class Standing {
  /** Called with what was known before, when something has changed. */
  changed: (before: Joined) => void = () => {};

  constructor(
    readonly vault: Vault | undefined,
    public row: Joined,
    private readonly tell: () => void,
  ) {}

  /** Change what is known, for all tabs; in the same transaction do what belongs to it. */
  async set(changes: Partial<Joined>, also?: (tables: Tables) => Promise<unknown>): Promise<void> {
    if (!this.vault) return this.see({ ...this.row, ...changes });
    const row = await this.vault.transact(async (tables) => {
      await also?.(tables);
      return tables.set(changes);
    }, also && "strict");
    this.see(row);
    this.tell();
  }

  see(row: Joined): void {
    const before = this.row;
    this.row = row;
    this.changed(before);
  }
}
