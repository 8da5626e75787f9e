"""Study: plan, audit, attack and draw, without or before releases."""
