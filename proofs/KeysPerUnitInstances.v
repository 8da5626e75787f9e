(* Numbers that meet all that the theorems of several keys a unit ask for; and what is wrong with less. *)

From Coq Require Import Reals Lra Lia List Bool.
From Discreet Require Import Sums Keys KeysPerUnit KeysInstances.
Import ListNotations.
Open Scope R_scope.

(* Two keys that a unit joins, of 3 and of 5 others, one that it leaves, and one that it never had. *)
Definition counts : list (nat * change) := [(3%nat, up); (5%nat, up); (0%nat, down); (4%nat, still)].

Notation all_keys := (map (key 2 (1 / 20)) counts).

Lemma all_near : forall one, In one all_keys -> near 2 (1 / 20) one.
Proof. intros one inside. apply (keys_are_near 2 (1 / 20)) with counts; lra || exact inside. Qed.

Example together_instance :
  forall event,
    1 * joint before all_keys event <= 3 * joint after all_keys event + curve 2 (1 / 20) 3 1 3.
Proof.
  intros event.
  apply (together 2 (1 / 20)); try lra. exact all_near.
Qed.

Example curve_is_instance :
  curve 2 (1 / 20) 2 1 3 = 1 * (1 - (1 - 1 / 20) ^ 2) + (1 - 1 / 20) ^ 2 * responses 2 2 1 3.
Proof. apply curve_is; lra. Qed.

(* ((4 - 3) + 0 + 0) / 9 *)
Example responses_are_instance : responses 2 2 1 3 = 1 / 9.
Proof.
  rewrite responses_are. cbn [sum choose Nat.add Nat.sub pow INR].
  rewrite (Rmax_right 0 _) by lra. rewrite !(Rmax_left 0 _) by lra. lra.
Qed.

Example split_instance :
  forall event,
    joint before all_keys event <= 2 ^ 3 * joint after all_keys event + (1 - (1 - 1 / 20) ^ 3) /\
    joint after all_keys event <= 2 ^ 3 * joint before all_keys event + (1 - (1 - 1 / 20) ^ 3).
Proof.
  intros event. apply (split 2 (1 / 20)); try lra. exact all_near.
Qed.

Example keys_together_instance :
  forall event,
    joint before all_keys event
    <= 3 * joint after all_keys event + (1 - (1 - 1 / 20) ^ 3 * (1 - responses 2 3 1 3)) /\
    joint after all_keys event
    <= 3 * joint before all_keys event + (1 - (1 - 1 / 20) ^ 3 * (1 - responses 2 3 1 3)).
Proof. intros event. apply (keys_together 2 (1 / 20)); lra. Qed.

Example keys_split_instance :
  forall event,
    joint before all_keys event <= 2 ^ 3 * joint after all_keys event + (1 - (1 - 1 / 20) ^ 3) /\
    joint after all_keys event <= 2 ^ 3 * joint before all_keys event + (1 - (1 - 1 / 20) ^ 3).
Proof. intros event. apply (keys_split 2 (1 / 20)); lra. Qed.

Lemma tight :
  forall k,
    let some answers := negb (nothing answers) in
    let new := repeat (key 2 (1 / 20) (0%nat, up)) k in
    joint before new some = 0 /\ joint after new some = 1 - (1 - 1 / 20) ^ k.
Proof. intros k. apply (split_is_tight 2 (1 / 20)); lra. Qed.

(* 1/20, 39/400, 1141/8000: what enumeration finds for one, two and three keys. *)
Example split_is_tight_instance :
  let some answers := negb (nothing answers) in
  let new k := repeat (key 2 (1 / 20) (0%nat, up)) k in
  joint after (new 1%nat) some = 1 / 20 /\ joint after (new 2%nat) some = 39 / 400 /\
  joint after (new 3%nat) some = 1141 / 8000 /\ joint before (new 3%nat) some = 0.
Proof.
  cbv zeta.
  destruct (tight 1) as [_ one].
  destruct (tight 2) as [_ two].
  destruct (tight 3) as [none three].
  repeat apply conj; [rewrite one|rewrite two|rewrite three|exact none]; lra.
Qed.

(* ---- What is wrong with less ---- *)

Lemma delta_once_is_too_little :
  exists event,
    joint after (repeat (key 2 (1 / 20) (0%nat, up)) 2) event
    > 2 ^ 2 * joint before (repeat (key 2 (1 / 20) (0%nat, up)) 2) event + 1 / 20.
Proof.
  exists (fun answers => negb (nothing answers)).
  destruct (tight 2) as [-> ->]. lra.
Qed.

(* Two coins with odds of 2 to 1, turned round. *)
Definition coin : decision :=
  {| outcomes := 2; moved := true;
     before := fun o => match o with O => 2 / 3 | _ => 1 / 3 end;
     after := fun o => match o with O => 1 / 3 | _ => 2 / 3 end |}.

Lemma coin_is_near : near 2 0 coin.
Proof.
  assert (law_before : law 2 (before coin)) by (split; [intros [|o] _; cbn; lra|cbn; lra]).
  assert (law_after : law 2 (after coin)) by (split; [intros [|o] _; cbn; lra|cbn; lra]).
  split; [exact law_before|split; [exact law_after|]]. intros event.
  unfold of_event. cbn [outcomes coin sum before after].
  destruct (event 0%nat), (event 1%nat); lra.
Qed.

Lemma e_once_is_too_little :
  exists event, joint before [coin; coin] event > 2 * joint after [coin; coin] event + (1 - (1 - 0) ^ 2).
Proof.
  exists nothing. unfold nothing.
  cbn [joint outcomes coin sum before after forallb Nat.eqb andb pow]. lra.
Qed.

(* A unit that leaves one key and joins another moves two. *)
Lemma a_key_for_a_key_is_no_single_move :
  let both := map (key 2 (1 / 20)) [(3%nat, up); (3%nat, down)] in
  exists event, joint before both event > 2 * joint after both event + 1 / 20.
Proof.
  exists (fun answers => match answers with [O; S _] => true | _ => false end).
  cbn [map key joint outcomes before after sum answer_chance f Nat.sub].
  rewrite shown_0, shown_1, shown_2, shown_3, shown_4. lra.
Qed.
