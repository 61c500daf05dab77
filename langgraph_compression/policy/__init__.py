"""Pure decisions about a conversation: pairs, cuts, previews, overflow, digests."""
