/**
 * SHA-256, by the browser. A page without https has none; it reports nothing, so for the server any other bytes will do.
 */
export async function sha256(data: Uint8Array): Promise<Uint8Array> {
  const { subtle } = crypto;
  return subtle
    ? new Uint8Array(await subtle.digest("SHA-256", data as BufferSource))
    : crypto.getRandomValues(new Uint8Array(32));
}
